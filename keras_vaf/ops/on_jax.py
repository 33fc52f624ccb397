"""`apply`, the operation on JAX.

The native kernels act where a call is differentiated. Elsewhere XLA merges the formula
with the operations around it. Without kernels, the gradient computes it again.
"""

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from keras_vaf.ops.activations import IN_KERNELS
from keras_vaf.ops.case import Case, case_of_layer
from keras_vaf.ops.equation import Layout, Pointwise, formula
from keras_vaf.ops.gpu import on_jax as gpu
from keras_vaf.ops.native.library import FOLDER, find, warn


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """Return f(x, *parameters)."""
    tensors = (x, *parameters)
    case = None
    if isinstance(math.prod(x.shape), int) and not any(map(_is_divided, tensors)):
        dtypes, shapes = [t.dtype.name for t in tensors], [t.shape for t in tensors]
        case = case_of_layer(function, layout, dtypes, shapes)
    if case is None or (jax.default_backend() == "cpu" and inactive()):
        return _recomputed(function, layout)(*tensors)
    return _with_kernels(function, layout, case)(*tensors)


def _is_divided(tensor: jax.Array) -> bool:
    """Return whether a type says how an array is divided (explicitly, `shard_map`)."""
    kinds = jax.typeof(tensor).sharding.mesh.axis_types
    return any(kind != jax.sharding.AxisType.Auto for kind in kinds)


@functools.lru_cache(maxsize=1024)
def _recomputed(function: Pointwise, layout: Layout) -> Callable[..., jax.Array]:
    """Return the formula, which keeps only x and the parameters for the gradient.

    On a processor, XLA ignores the barriers of `jax.checkpoint`, and keeps the hidden
    units of both passes. Here x of the second pass needs the upstream.
    """
    plain = functools.partial(formula, function, layout)

    def gradients(upstream: jax.Array, x: jax.Array, *parameters: jax.Array) -> Any:
        never = (upstream > 0) & (upstream < 0)

        def later(x: jax.Array, *parameters: jax.Array) -> jax.Array:
            return plain(jax.numpy.where(never, upstream, x), *parameters)

        return jax.vjp(later, x, *parameters)[1](upstream)

    return _with_gradients(plain, plain, gradients)


def _with_gradients(
    plain: Callable[..., jax.Array],
    forward: Callable[..., jax.Array],
    gradients: Callable[..., Any],
) -> Callable[..., jax.Array]:
    """Return `forward` with these gradients, and with the formula in forward mode."""

    def tangent(*arguments: Any) -> Any:
        primals, changes = _halves(arguments)
        return jax.jvp(plain, primals, changes)[1]

    run, differentiated = jax.custom_jvp(plain), jax.custom_jvp(forward)

    @run.defjvp
    @differentiated.defjvp
    def push_forward(primals: Any, changes: Any) -> Any:
        change = _tangent.bind(*primals, *changes, run=tangent, transpose=gradients)
        return differentiated(*primals), change

    return run


def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    if len(jax.devices("cpu")) != 1:  # XLA would gather arrays from all devices
        return "the native kernels are for a single device, a processor"
    return _unusable()


@functools.cache
def _unusable() -> str:
    """Register the kernels with XLA. Return why this failed, or `""`."""
    if find().reason:
        return find().reason
    try:
        library = ctypes.CDLL(str(FOLDER / "libvaf_jax.so"))
        for name in ("forward", "backward"):
            capsule = jax.ffi.pycapsule(getattr(library, f"vaf_xla_{name}"))
            jax.ffi.register_ffi_target(f"keras_vaf_{name}", capsule, platform="cpu")
    except Exception as error:
        reason = f"JAX {jax.__version__} cannot load the native kernels: {error}"
        warn(reason)
        return reason
    return ""


@functools.lru_cache(maxsize=1024)
def _with_kernels(
    function: Pointwise, layout: Layout, case: Case
) -> Callable[..., jax.Array]:
    """Return f by the kernels, whose further derivatives are those of the formula.

    On a machine with a GPU, XLA takes the form of the device for which it compiles.
    """
    plain = functools.partial(formula, function, layout)
    number, slope = IN_KERNELS[case.g]

    def first(upstream: jax.Array, *arguments: jax.Array) -> tuple[jax.Array, ...]:
        return jax.vjp(plain, *arguments)[1](upstream)

    def call(target: str, like: tuple[jax.Array, ...]) -> Callable[..., Any]:
        results = tuple(jax.ShapeDtypeStruct(t.shape, t.dtype) for t in like)
        sizes = np.array([number, case.k, *case.sizes(like[0].shape)], "int64")
        # `vmap` adds its axis in front of every tensor: one entry per network.
        run = jax.ffi.ffi_call(target, results, vmap_method="broadcast_all")
        return functools.partial(run, case=sizes, slope=np.float32(slope))

    @jax.jit
    def forward(*primals: jax.Array) -> jax.Array:
        native = call("keras_vaf_forward", primals[:1])
        if jax.default_backend() == "cpu":
            return native(*primals)[0]
        forms = {} if inactive() else {"cpu": lambda *tensors: native(*tensors)[0]}
        return jax.lax.platform_dependent(*primals, default=plain, **forms)

    @jax.custom_jvp
    @jax.jit
    def gradients(upstream: jax.Array, *primals: jax.Array) -> tuple[jax.Array, ...]:
        native = call("keras_vaf_backward", primals)
        if jax.default_backend() == "cpu":
            return native(upstream, *primals)
        forms = gpu.forms(case, primals[0].shape, first)
        forms["cpu"] = first if inactive() else native
        found = jax.lax.platform_dependent(upstream, *primals, **forms)
        return tuple(found)

    @gradients.defjvp
    def second(primals: Any, changes: Any) -> Any:
        return jax.jvp(first, primals, changes)

    return _with_gradients(plain, forward, gradients)


# The change of f along a direction is linear in the second half of its arguments. A
# primitive makes JAX use the kernels for its transpose, the gradient, and the formula
# in forward mode. `jax.custom_derivatives.linear_call` does the same, but has no rule
# for `vmap`, and `jax.custom_vjp` has no forward mode.
_tangent = Primitive("keras_vaf_tangent")


def _halves(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]


def _evaluate(*arguments: Any, run: Any, transpose: Any) -> Any:
    return run(*arguments)


@functools.lru_cache(maxsize=1024)
def _type(*arguments: Any, run: Any, transpose: Any) -> Any:
    """Return the type of the change: inside `shard_map`, its varying axes too."""
    return jax.make_jaxpr(run)(*arguments).out_avals[0]


def _push_forward(arguments: Any, changes: Any, run: Any, transpose: Any) -> Any:
    return jax.jvp(run, arguments, tuple(map(ad.instantiate_zeros, changes)))


def _transpose(upstream: Any, *arguments: Any, run: Any, transpose: Any) -> list[Any]:
    primals, changes = _halves(arguments)
    found = transpose(ad.instantiate_zeros(upstream), *primals)
    wanted = map(ad.is_undefined_primal, changes)
    pairs = zip(found, wanted, strict=True)
    return [None] * len(primals) + [each if needed else None for each, needed in pairs]


def _batch(arguments: Any, axes: Any, run: Any, transpose: Any) -> tuple[Any, int]:
    pairs = list(zip(arguments, axes, strict=True))
    size = next(argument.shape[axis] for argument, axis in pairs if axis is not None)
    in_front = [
        jax.numpy.broadcast_to(argument, (size, *argument.shape))
        if axis is None
        else jax.numpy.moveaxis(argument, axis, 0)
        for argument, axis in pairs
    ]
    return _tangent.bind(*in_front, run=_vmap(run), transpose=_vmap(transpose)), 0


_vmap = functools.lru_cache(maxsize=1024)(jax.vmap)
_tangent.def_impl(jax.jit(_evaluate, static_argnames=("run", "transpose")))
_tangent.def_abstract_eval(_type)
ad.primitive_jvps[_tangent] = _push_forward
ad.primitive_transposes[_tangent] = _transpose
batching.primitive_batchers[_tangent] = _batch
mlir.register_lowering(_tangent, mlir.lower_fun(_evaluate, multiple_results=False))
