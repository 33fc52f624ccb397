"""The operation on JAX: XLA fuses each pass, here and inside any compiled step."""

import functools
import math
from collections.abc import Callable

import jax

from keras_vaf.ops.backends.choice import plain_is_faster
from keras_vaf.ops.backends.tangent_on_jax import tangent
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import forward
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
    """f(x, *parameters) with a gradient that keeps x alone, unless x is small."""
    if _is_plain(function, layout, x, *parameters):
        return forward(function, layout, x, *parameters)
    return _differentiable(function, layout, is_plain())(x, *parameters)


def _is_plain(
    function: Pointwise, layout: Layout, x: jax.Array, *parameters: jax.Array
) -> bool:
    """Tell whether JAX differentiates the formula itself."""
    if not all(isinstance(size, int) for size in x.shape):
        return True  # a program exported for any batch has no blocks
    if native.covered(function, layout, x, *parameters) is not None:
        return False
    k = parameters[0].shape[-1] if parameters[0].ndim > len(layout.unshared) else 1
    return plain_is_faster(function, math.prod(x.shape), k)


@functools.lru_cache(maxsize=1024)
def _differentiable(
    function: Pointwise, layout: Layout, plain_operators: bool
) -> Callable[..., jax.Array]:
    # JAX keeps traces of each function, so those with native kernels are another one.
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
