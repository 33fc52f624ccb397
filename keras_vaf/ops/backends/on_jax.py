"""The operation on JAX: XLA fuses each pass, here and inside any compiled step."""

import functools
from collections.abc import Callable

import jax

from keras_vaf.ops.differentiation import FORWARD_MODE
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
    """f(x, *parameters) with a gradient that keeps x alone."""
    try:
        return _differentiable(function, layout, is_plain())(x, *parameters)
    except TypeError as error:
        if "forward-mode" not in str(error):
            raise
        raise TypeError(FORWARD_MODE) from error


@functools.lru_cache(maxsize=1024)
def _differentiable(
    function: Pointwise, layout: Layout, plain_operators: bool
) -> Callable[..., jax.Array]:
    # JAX keeps traces of each function, so those with native kernels are another one.
    @jax.custom_vjp
    def run(x: jax.Array, *parameters: jax.Array) -> jax.Array:
        return forward(function, layout, x, *parameters)

    def keep(*arguments: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        # Not `run`: forward mode over the gradient (`jax.hessian`) goes through here.
        return native.forward(function, layout, *arguments), arguments

    def pull_back(
        arguments: tuple[jax.Array, ...], upstream: jax.Array
    ) -> tuple[jax.Array, ...]:
        if not all(isinstance(size, int) for size in arguments[0].shape):
            # A program exported for any batch: there is nothing to cut into blocks.
            plain = functools.partial(forward, function, layout)
            return jax.vjp(plain, *arguments)[1](upstream)
        return native.gradients(function, layout, upstream, *arguments)

    run.defvjp(keep, pull_back)
    return run
