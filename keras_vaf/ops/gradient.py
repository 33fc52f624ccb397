"""The one operation behind every trainable activation, with its own gradient.

The forward pass keeps x and the parameters, nothing else. The backward pass computes
the slope of f anew, in one pass that gives the gradient of x, and the sums behind the
gradients of the parameters in blocks (`keras_vaf.ops.blocks`).
"""

from collections.abc import Sequence

import keras
from keras import ops

from keras_vaf.ops.blocks import blockwise
from keras_vaf.ops.differentiation import is_plain
from keras_vaf.ops.equation import Pointwise, Total
from keras_vaf.ops.layout import BLOCK_LAYOUT, Layout
from keras_vaf.types import Tensor


def forward(
    function: Pointwise, layout: Layout, x: Tensor, *parameters: Tensor
) -> Tensor:
    """f(x), computed in the parameters' dtype and returned in that of x."""
    aligned = [layout.align(p) for p in parameters]
    y = function.value(ops.cast(x, parameters[0].dtype), *aligned)
    return ops.cast(y, x.dtype)


def input_gradient(
    function: Pointwise,
    layout: Layout,
    upstream: Tensor,
    x: Tensor,
    *parameters: Tensor,
) -> Tensor:
    """Gradient of the input: upstream * df/dx."""
    aligned = [layout.align(p) for p in parameters]
    slope = function.derivative(ops.cast(x, parameters[0].dtype), *aligned)
    return ops.cast(ops.cast(upstream, slope.dtype) * slope, x.dtype)


def gradients(
    function: Pointwise,
    layout: Layout,
    upstream: Tensor,
    x: Tensor,
    *parameters: Tensor,
) -> tuple[Tensor, ...]:
    """Gradients of the input and of each parameter, for a compiler: in blocks."""
    dtype = parameters[0].dtype
    aligned = [BLOCK_LAYOUT.align(layout.merge(p)) for p in parameters]

    def sums(x: Tensor, upstream: Tensor, total: Total) -> list[Tensor]:
        found = function.gradients(
            ops.cast(x, dtype), ops.cast(upstream, dtype), total, *aligned
        )
        return [t for g in found for t in (g if isinstance(g, list) else [g])]

    found = [
        input_gradient(
            function, layout, upstream, _apart(x, parameters[0]), *parameters
        )
    ]
    totals = iter(blockwise(sums, layout.flatten(x), layout.flatten(upstream)))
    for parameter, entries in zip(parameters, aligned, strict=True):
        if isinstance(entries, list):
            gradient = ops.stack([next(totals) for _ in entries], axis=-1)
        else:
            gradient = next(totals)
        found.append(ops.reshape(gradient, parameter.shape))
    return tuple(found)


def _apart(x: Tensor, parameter: Tensor) -> Tensor:
    """The same values as x, which a compiler cannot know to be the same.

    Forward and backward pass are one program in a compiled training step. A compiler
    that sees that both need g(h_j) would keep it: k tensors of the size of x.
    """
    some = ops.reshape(parameter, (-1,))[0]
    zero = ops.logical_and(some > 0, some < 0)
    return x + ops.cast(zero, x.dtype)


def pointwise(
    function: Pointwise,
    x: Tensor,
    parameters: Sequence[Tensor],
    unshared: Sequence[int] = (),
    training: bool = False,
) -> Tensor:
    """Apply f(x; parameters) to every element of x, keeping x alone for the gradient.

    Args:
        function: What f computes.
        x: Tensor of floats, of any rank.
        parameters: Tensors of shape `(*sizes of the unshared axes, ...)`, with at most
            one axis of their own, all of one dtype.
        unshared: Axes of x along which the parameters differ, ascending.
        training: Whether to spend compilation on speed. It matters on TensorFlow alone,
            where the forward pass for training is a program of XLA's, and that for
            inference standard operators that any exporter understands.

    Returns:
        f(x), of the shape and dtype of x.
    """
    layout = Layout(len(x.shape), tuple(unshared))
    backend = keras.backend.backend()
    if is_plain():  # of symbolic tensors too
        return forward(function, layout, x, *parameters)
    tensors = [ops.convert_to_tensor(tensor) for tensor in (x, *parameters)]
    if backend == "jax":
        from keras_vaf.ops.backends import on_jax

        return on_jax.apply(function, layout, training, *tensors)
    if backend == "tensorflow":
        from keras_vaf.ops.backends import on_tensorflow

        return on_tensorflow.apply(function, layout, training, *tensors)
    from keras_vaf.ops.backends import on_torch

    return on_torch.apply(function, layout, training, *tensors)
