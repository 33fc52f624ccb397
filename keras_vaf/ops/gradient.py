"""`plain_forward` and `blockwise_gradients`, value and gradients of `Pointwise`.

The forward pass stores only x and the parameters. The backward pass computes the slope
of f again. One pass computes the gradient of x. The sums for the gradients of the
parameters are computed in blocks (`keras_vaf.ops.blocks`).
"""

from keras import ops

from keras_vaf.ops.blocks import blockwise
from keras_vaf.ops.equation import Pointwise, Total
from keras_vaf.ops.layout import BLOCK_LAYOUT, Layout
from keras_vaf.types import Tensor


def plain_forward(
    function: Pointwise, layout: Layout, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x) in the dtype of x, computed in the dtype of the parameters."""
    aligned = [layout.align(p) for p in parameters]
    y = function.value(ops.cast(x, parameters[0].dtype), *aligned)
    return ops.cast(y, x.dtype)


def blockwise_gradients(
    function: Pointwise,
    layout: Layout,
    upstream: Tensor,
    x: Tensor,
    *parameters: Tensor,
) -> tuple[Tensor, ...]:
    """Return the gradients of the input and of each parameter, summed in blocks.

    This form is for compilers, which fuse the passes over a block.
    """
    if 0 in tuple(x.shape):  # an empty input: every sum is 0
        return tuple(ops.zeros_like(tensor) for tensor in (x, *parameters))
    dtype = parameters[0].dtype
    aligned = [BLOCK_LAYOUT.align(layout.merge(p)) for p in parameters]

    def sums(x: Tensor, upstream: Tensor, total: Total) -> list[Tensor]:
        found = function.gradients(
            ops.cast(x, dtype), ops.cast(upstream, dtype), total, *aligned
        )
        return [t for g in found for t in (g if isinstance(g, list) else [g])]

    inputs = ops.cast(_apart(x, parameters[0]), dtype)
    slope = function.derivative(inputs, *[layout.align(p) for p in parameters])
    found = [ops.cast(ops.cast(upstream, dtype) * slope, x.dtype)]
    totals = iter(blockwise(sums, layout.flatten(x), layout.flatten(upstream)))
    for parameter, entries in zip(parameters, aligned, strict=True):
        if isinstance(entries, list):
            gradient = ops.stack([next(totals) for _ in entries], axis=-1)
        else:
            gradient = next(totals)
        found.append(ops.reshape(gradient, parameter.shape))
    return tuple(found)


def _apart(x: Tensor, parameter: Tensor) -> Tensor:
    """Return the values of x in a form that a compiler cannot recognize as x.

    In a compiled training step, the forward and the backward pass are one program. A
    compiler that sees that both need g(h_j) would store it: k tensors of the size of x.
    """
    some = ops.reshape(parameter, (-1,))[0]
    zero = ops.logical_and(some > 0, some < 0)
    return x + ops.cast(zero, x.dtype)
