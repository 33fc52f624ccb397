"""`apply`, the operation on JAX.

XLA fuses the operations of each pass, inside and outside of compiled steps.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax

from keras_vaf.ops.backends import choice
from keras_vaf.ops.backends.tangent_on_jax import tangent
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import forward, forward_at_once
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import on_jax as native
from keras_vaf.ops.native.switch import is_plain


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: jax.Array,
    *parameters: jax.Array,
) -> jax.Array:
    """Return f(x, *parameters), whose gradient stores only x, unless x is small."""
    if not all(isinstance(size, int) for size in x.shape):
        # A program that is exported for any batch size has no blocks.
        return forward(function, layout, x, *parameters)
    covered = native.covered(function, layout, x, *parameters) is not None
    elements = math.prod(x.shape)
    if covered:
        return _differentiable(function, layout, is_plain())(x, *parameters)
    few = elements <= choice.FEW and not any(map(_is_mapped, (x, *parameters)))
    if few and choice.is_small(function, x.shape, parameters, covered):
        return forward_at_once(function, layout, x, *parameters)
    if choice.plain_is_faster(function, elements):
        return forward(function, layout, x, *parameters)
    return _differentiable(function, layout, is_plain())(x, *parameters)


def _is_mapped(tensor: jax.Array) -> bool:
    """Return whether `jax.vmap` hides an axis of a tensor, which may then be large.

    JAX has no public function for this. If its tracers change, and inside loops of a
    mapped program, the result is `False`. Only the time of the call depends on it (see
    `many_networks`).
    """
    value: Any = tensor
    while isinstance(value, jax.core.Tracer) and not hasattr(value, "batch_dim"):
        value = getattr(value, "primal", None)
    return hasattr(value, "batch_dim")


@functools.lru_cache(maxsize=1024)
def _differentiable(
    function: Pointwise, layout: Layout, plain_operators: bool
) -> Callable[..., jax.Array]:
    # JAX caches traces by function, so the variant with native kernels needs its own.
    @jax.custom_jvp
    def run(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        return forward(function, layout, x, *parameters)

    @run.defjvp
    def push_forward(
        primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
    ) -> tuple[jax.Array, jax.Array]:
        compute = forward if plain_operators else native.forward
        y = compute(function, layout, *primals)
        return y, tangent(function, layout, plain_operators, primals, tangents)

    return run
