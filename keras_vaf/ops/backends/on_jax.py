"""`apply`, the operation on JAX.

XLA fuses the operations of each pass, inside and outside of compiled steps.
"""

import functools
import math
from collections.abc import Callable

import jax

from keras_vaf.ops.backends.choice import is_homogeneous, is_medium
from keras_vaf.ops.backends.tangent_on_jax import tangent
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import Case
from keras_vaf.ops.native import on_jax as native


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
        return plain_forward(function, layout, x, *parameters)
    case = native.covered(function, layout, x, *parameters)
    if case is None and is_medium(function, math.prod(x.shape)):
        return plain_forward(function, layout, x, *parameters)
    return _differentiable(function, layout, case)(x, *parameters)


@functools.lru_cache(maxsize=1024)
def _differentiable(
    function: Pointwise, layout: Layout, case: Case | None
) -> Callable[..., jax.Array]:
    forward = plain = functools.partial(plain_forward, function, layout)
    if case is not None:
        forward = functools.partial(native.forward, function, layout, case)
    # Without a gradient, XLA merges a sum of relus with its neighbours: a ResNet takes
    # 1.30 times the time of ReLU by the formula, and 1.37 times by the kernel. With
    # gelu, which XLA computes slowly, a transformer takes 1.25 and 1.09 times. XLA
    # computes tanh fast: an LSTM takes 1.18 and 1.32 times.
    merged = is_homogeneous(function) or (case is not None and case.g == "tanh")
    run = jax.custom_jvp(plain if merged else forward)

    @run.defjvp
    def push_forward(
        primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
    ) -> tuple[jax.Array, jax.Array]:
        y = forward(*primals)
        return y, tangent((function, layout, case), primals, tangents)

    return run
