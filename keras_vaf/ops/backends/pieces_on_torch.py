"""`forward` and `gradients` on eager PyTorch, which take the input in pieces.

A piece stays in the cache between the passes over memory.
"""

import functools
import itertools
import math
from collections.abc import Iterator

import torch

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.backends import units_on_torch
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.vaf import VAF
from keras_vaf.ops.vjp import vjp

PIECE = 786_432
"""Elements of a piece times hidden units. All cores work on the same piece."""
ON_ACCELERATOR = 16_777_216
"""The same for accelerators, where memory is the limit instead of the cache."""

Slices = tuple[slice, ...]


def forward(
    function: Pointwise, layout: Layout, x: torch.Tensor, *parameters: torch.Tensor
) -> torch.Tensor:
    """Return f(x, *parameters)."""
    if _is_one_piece(function, x):
        return plain_forward(function, layout, x, *parameters)
    inner = _layout_of_pieces(layout)
    y = torch.empty_like(x)
    memory = _memory(function, x, parameters[0], backward=False)
    for (inputs, result), own in _pieces(function, layout, parameters[0], y, x, y):
        parts = [parameter[own] for parameter in parameters] if own else parameters
        if isinstance(function, VAF):
            units_on_torch.forward(
                function, inner, inputs, *parts, memory=memory, out=result
            )
        else:
            result.copy_(plain_forward(function, inner, inputs, *parts))
    return y


def gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter."""
    if _is_one_piece(function, x):
        plain = functools.partial(plain_forward, function, layout)
        return vjp(plain, (x, *parameters), upstream)
    inner = _layout_of_pieces(layout)
    x_gradient = torch.empty_like(x)
    totals: list[torch.Tensor] = []
    memory = _memory(function, x, parameters[0], backward=True)
    tensors = (x_gradient, upstream, x, x_gradient)
    for (d, inputs, result), own in _pieces(function, layout, parameters[0], *tensors):
        parts = [parameter[own] for parameter in parameters] if own else parameters
        if isinstance(function, VAF):
            found = units_on_torch.gradients(
                function, inner, d, inputs, *parts, memory=memory, out=result
            )
        else:
            plain = functools.partial(plain_forward, function, inner)
            everything = vjp(plain, (inputs, *parts), d)
            result.copy_(everything[0])
            found = everything[1:]
        if own and not totals:
            totals = [torch.zeros_like(parameter) for parameter in parameters]
        if totals:
            for total, part in zip(totals, found, strict=True):
                (total[own] if own else total).add_(part)
        else:
            totals = list(found)
    return x_gradient, *totals


def _is_one_piece(function: Pointwise, x: torch.Tensor) -> bool:
    """Return whether a function other than a VAF takes an input as a whole."""
    return not isinstance(function, VAF) and x.numel() <= _most(x)


def _layout_of_pieces(layout: Layout) -> Layout:
    """Return the layout of pieces, which have two axes if all share one function."""
    return layout if layout.unshared else Layout(2, ())


def _elements_of_a_piece(
    function: Pointwise, x: torch.Tensor, parameter: torch.Tensor
) -> int:
    units = parameter.shape[-1] if isinstance(function, VAF) else 1
    return max(1, _most(x) // units)


def _most(x: torch.Tensor) -> int:
    """Return the number of elements of a piece, times the hidden units."""
    return PIECE if x.device.type == "cpu" else ON_ACCELERATOR


def _memory(
    function: Pointwise, x: torch.Tensor, parameter: torch.Tensor, backward: bool
) -> list[torch.Tensor]:
    """Return arrays for h_j and, if gradients need them, for g(h_j) of all pieces.

    They stay in the cache.
    """
    if not isinstance(function, VAF):
        return []
    count = 2 if backward and not elementwise(function.g).homogeneous else 1
    elements = min(_elements_of_a_piece(function, x, parameter), x.numel())
    return [parameter.new_empty(parameter.shape[-1] * elements) for _ in range(count)]


def _pieces(
    function: Pointwise,
    layout: Layout,
    parameter: torch.Tensor,
    like: torch.Tensor,
    *tensors: torch.Tensor,
) -> Iterator[tuple[tuple[torch.Tensor, ...], Slices]]:
    """Yield pieces of tensors, and the slices of all parameters for each piece.

    The slices are empty if a piece needs the whole parameters.

    If all elements share one function, their order does not matter. They are then taken
    in the order in which `like` stores its elements, as rows of shape `(1, elements)`.
    """
    most = _elements_of_a_piece(function, like, parameter)
    if not layout.unshared:
        rows = (_row(tensor, like).split(most, dim=1) for tensor in tensors)
        yield from ((parts, ()) for parts in zip(*rows, strict=True))
        return
    if like.numel() <= most:
        yield tensors, ()
        return
    steps = list(like.shape)
    for axis in _cutting_order(layout, like.shape, most):
        if math.prod(steps) <= most:
            break
        steps[axis] = max(1, most * steps[axis] // math.prod(steps))
    for piece in itertools.product(
        *(
            [slice(start, start + step) for start in range(0, size, max(1, step))]
            for size, step in zip(like.shape, steps, strict=True)
        )
    ):
        own = tuple(piece[axis] for axis in layout.unshared)
        yield tuple(tensor[piece] for tensor in tensors), own


def _row(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return the elements of a tensor in the order in which `like` stores its own.

    The tensor `like` has no gaps in memory.
    """
    if tensor.stride() != like.stride():
        tensor = torch.empty_like(like, dtype=tensor.dtype).copy_(tensor)
    return tensor.as_strided((1, tensor.numel()), (tensor.numel(), 1))


def _cutting_order(layout: Layout, shape: torch.Size, most: int) -> list[int]:
    """Return the axes in the order in which they are cut.

    If there are many functions, the unshared axes come first, so that a piece has few.
    """
    functions = math.prod(shape[axis] for axis in layout.unshared)
    many = 8 * functions > most
    return sorted(range(layout.rank), key=lambda a: many and a not in layout.unshared)
