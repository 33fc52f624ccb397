"""`tangent`, the change of f along a direction, on JAX.

JAX derives the gradient from this function of primals and tangents, which is linear in
the tangents. A separate primitive makes JAX use this package's gradient, which stores
only x and forms its sums in blocks or in native kernels. In forward mode JAX uses the
plain formula. `jax.custom_derivatives.linear_call` does the same, but has no rule for
`vmap`, and `jax.custom_vjp` has no forward mode. Differentiated by JAX itself, a
training step of a ResNet takes 1.28 times as long as with ReLU. With this gradient it
takes 1.03 times as long, and 0.88 times with native kernels.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import blockwise_gradients, plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import Case
from keras_vaf.ops.native import on_jax as native

_tangent = Primitive("keras_vaf_tangent")


def tangent(
    call: tuple[Pointwise, Layout, Case | None],
    primals: Sequence[jax.Array],
    tangents: Sequence[jax.Array],
) -> jax.Array:
    """Return the change of f(x, *parameters) at the primals along the tangents.

    Args:
        call: The function f, the axes of the input, and the case of the native kernels
            if they compute the gradient.
        primals: The input and each parameter.
        tangents: A change of each primal.
    """
    result: jax.Array = _tangent.bind(*primals, *tangents, call=call, networks=0)
    return result


def _evaluate(*arguments: Any, call: tuple[Any, ...], networks: int) -> jax.Array:
    function, layout, _ = call
    plain = functools.partial(plain_forward, function, layout)

    def run(*arguments: Any) -> Any:
        primals, tangents = _halves(arguments)
        return jax.jvp(plain, primals, tangents)[1]

    return _mapped(run, networks)(*arguments)


def _halves(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    middle = len(arguments) // 2
    return arguments[:middle], arguments[middle:]


def _mapped(function: Callable[..., Any], networks: int) -> Callable[..., Any]:
    """Map a function over leading axes of all its arguments."""
    for _ in range(networks):
        function = jax.vmap(function)
    return function


def _push_forward(
    arguments: tuple[Any, ...], changes: tuple[Any, ...], **options: Any
) -> Any:
    changes = tuple(map(ad.instantiate_zeros, changes))
    return jax.jvp(functools.partial(_evaluate, **options), arguments, changes)


def _transpose(
    upstream: Any, *arguments: Any, call: tuple[Any, ...], networks: int
) -> list[Any]:
    primals, tangents = _halves(arguments)
    run = functools.partial(_pull_back, *call)
    found = _mapped(run, networks)(ad.instantiate_zeros(upstream), *primals)
    wanted = map(ad.is_undefined_primal, tangents)
    return [None] * len(primals) + [
        cotangent if is_wanted else None
        for cotangent, is_wanted in zip(found, wanted, strict=True)
    ]


def _pull_back(
    function: Pointwise,
    layout: Layout,
    case: Case | None,
    upstream: jax.Array,
    *primals: jax.Array,
) -> tuple[jax.Array, ...]:
    if case is None:
        return blockwise_gradients(function, layout, upstream, *primals)
    return native.gradients(function, layout, case, upstream, *primals)


def _batch(
    arguments: tuple[Any, ...],
    axes: tuple[Any, ...],
    call: tuple[Any, ...],
    networks: int,
) -> tuple[Any, int]:
    sizes = (
        argument.shape[axis]
        for argument, axis in zip(arguments, axes, strict=True)
        if axis is not None
    )
    size = next(sizes)
    in_front = (
        jax.numpy.broadcast_to(argument, (size, *argument.shape))
        if axis is None
        else jax.numpy.moveaxis(argument, axis, 0)
        for argument, axis in zip(arguments, axes, strict=True)
    )
    return _tangent.bind(*in_front, call=call, networks=networks + 1), 0


_tangent.def_impl(jax.jit(_evaluate, static_argnames=("call", "networks")))
_tangent.def_abstract_eval(lambda x, *_, **__: jax.core.ShapedArray(x.shape, x.dtype))
ad.primitive_jvps[_tangent] = _push_forward
ad.primitive_transposes[_tangent] = _transpose
batching.primitive_batchers[_tangent] = _batch
mlir.register_lowering(_tangent, mlir.lower_fun(_evaluate, multiple_results=False))
