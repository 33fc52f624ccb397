"""The native kernels on JAX, as XLA custom calls."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import blockwise_gradients, plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native.case import Case, case_of
from keras_vaf.ops.native.library import find, warn

_TARGETS = {
    "keras_vaf_forward": "vaf_xla_forward",
    "keras_vaf_backward": "vaf_xla_backward",
}


@functools.cache
def unusable() -> str:
    """Register the kernels with XLA, once. Return why this failed, or `""`."""
    folder = find().folder
    if folder is None:
        return find().reason
    try:
        library = ctypes.CDLL(str(folder / "libvaf_jax.so"))
        for target, symbol in _TARGETS.items():
            capsule = jax.ffi.pycapsule(getattr(library, symbol))
            jax.ffi.register_ffi_target(target, capsule, platform="cpu")
    except Exception as error:
        reason = f"JAX {jax.__version__} cannot load the native kernels: {error}"
        warn(reason)
        return reason
    return ""


def inactive() -> str:
    """Return why the kernels support no call, or `""`.

    For a custom call, XLA would gather the parts of an array from all devices. The
    kernels are therefore used on a single device only.
    """
    devices = jax.devices()
    if len(devices) != 1 or devices[0].platform != "cpu":
        return "the native kernels are for a single device, a processor"
    return unusable()


def covered(
    function: Pointwise, layout: Layout, x: jax.Array, *parameters: jax.Array
) -> Case | None:
    """Return the case if the kernels support this call, else `None`."""
    tensors = (x, *parameters)
    dtypes, shapes = [t.dtype.name for t in tensors], [t.shape for t in tensors]
    case = case_of(function, layout, dtypes, shapes)
    return None if case is None or inactive() else case


def forward(
    function: Pointwise,
    layout: Layout,
    case: Case,
    x: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """Return f(x)."""
    return _operation(function, layout, case, _specs(x), backward=False)(x, *parameters)


def gradients(
    function: Pointwise,
    layout: Layout,
    case: Case,
    upstream: jax.Array,
    x: jax.Array,
    *parameters: jax.Array,
) -> tuple[jax.Array, ...]:
    """Return the gradients of x and of each parameter."""
    run = _operation(function, layout, case, _specs(x, *parameters), backward=True)
    return run(upstream, x, *parameters)


def _specs(*tensors: jax.Array) -> tuple[tuple[tuple[int, ...], str], ...]:
    return tuple((tensor.shape, tensor.dtype.name) for tensor in tensors)


# `jit` and one cached function per case avoid a compilation in every eager call.
@functools.lru_cache(maxsize=1024)
def _operation(
    function: Pointwise,
    layout: Layout,
    case: Case,
    specs: tuple[tuple[tuple[int, ...], str], ...],
    backward: bool,
) -> Callable[..., Any]:
    """Return a function that runs the kernels on a CPU; tangents use plain code."""
    plain = functools.partial(
        blockwise_gradients if backward else plain_forward, function, layout
    )
    results = [jax.ShapeDtypeStruct(*spec) for spec in specs]
    call = jax.ffi.ffi_call(
        "keras_vaf_backward" if backward else "keras_vaf_forward",
        tuple(results) if backward else results[0],
        # `vmap` adds its axis in front of every tensor: one entry per network.
        vmap_method="broadcast_all",
    )
    sizes = np.array([case.function, case.k, *case.sizes(results[0].shape)], "int64")
    native = functools.partial(call, case=sizes, slope=np.float32(case.slope))

    def kernels(*tensors: jax.Array) -> Any:
        return jax.lax.platform_dependent(*tensors, cpu=native, default=plain)

    @jax.custom_jvp
    @jax.jit
    def run(*tensors: jax.Array) -> Any:
        found = _unless_exported.bind(*tensors, kernels=kernels, plain=plain)
        return tuple(found) if backward else found[0]

    @run.defjvp
    def push_forward(primals: Any, tangents: Any) -> Any:
        return jax.jvp(plain, primals, tangents)

    return run


# An exported program may run where the kernels are missing. JAX says whether it exports
# only when it lowers a program, so one primitive holds both functions until then.
_unless_exported = Primitive("keras_vaf_unless_exported")
_unless_exported.multiple_results = True
_Function = Callable[..., Any]


@_unless_exported.def_impl
def _run(*tensors: jax.Array, kernels: _Function, plain: _Function) -> Any:
    return jax.tree.leaves(kernels(*tensors))


@_unless_exported.def_abstract_eval
def _shapes(*tensors: Any, kernels: _Function, plain: _Function) -> Any:
    results = jax.tree.leaves(jax.eval_shape(plain, *tensors))
    return [jax.core.ShapedArray(each.shape, each.dtype) for each in results]


def _batch(tensors: Any, axes: Any, kernels: _Function, plain: _Function) -> Any:
    found = _unless_exported.bind(
        *tensors,
        kernels=_mapped(kernels, tuple(axes)),
        plain=_mapped(plain, tuple(axes)),
    )
    return found, [0] * len(found)


@functools.lru_cache(maxsize=1024)
def _mapped(function: _Function, axes: tuple[int | None, ...]) -> _Function:
    return jax.vmap(function, axes)


def _lower(context: Any, *tensors: Any, kernels: _Function, plain: _Function) -> Any:
    exported = context.module_context.lowering_parameters.for_export
    chosen = plain if exported else kernels
    listed = functools.partial(_run, kernels=chosen, plain=plain)
    return mlir.lower_fun(listed, multiple_results=True)(context, *tensors)


batching.primitive_batchers[_unless_exported] = _batch
mlir.register_lowering(_unless_exported, _lower)
