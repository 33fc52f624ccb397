"""`forward` and `gradients` on eager PyTorch, which take the input in pieces.

A piece stays in the cache between the passes over memory.
"""

import functools
import itertools
import math
from collections.abc import Iterator

import torch

from keras_vaf.ops.backends import shared_on_torch, units_on_torch
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
    compute = functools.partial(plain_forward, function, layout)
    if isinstance(function, VAF):
        if not layout.unshared:
            most = _elements_of_a_piece(function, x, parameters[0])
            return shared_on_torch.forward(function, most, x, *parameters)
        compute = functools.partial(units_on_torch.forward, function, layout)
    pieces = list(_pieces(function, layout, x, parameters[0]))
    if len(pieces) == 1:
        return compute(x, *parameters)
    y = torch.empty_like(x)
    for piece, own in pieces:
        y[piece] = compute(x[piece], *(p[own] for p in parameters))
    return y


def gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter."""

    def compute(
        upstream: torch.Tensor, *arguments: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        plain = functools.partial(plain_forward, function, layout)
        return vjp(plain, arguments, upstream)

    if isinstance(function, VAF):
        if not layout.unshared:
            most = _elements_of_a_piece(function, x, parameters[0])
            return shared_on_torch.gradients(function, most, upstream, x, *parameters)
        compute = functools.partial(units_on_torch.gradients, function, layout)
    pieces = list(_pieces(function, layout, x, parameters[0]))
    if len(pieces) == 1:
        return compute(upstream, x, *parameters)
    x_gradient = torch.empty_like(x)
    totals = [torch.zeros_like(parameter) for parameter in parameters]
    for piece, own in pieces:
        x_gradient[piece], *found = compute(
            upstream[piece], x[piece], *(p[own] for p in parameters)
        )
        for total, part in zip(totals, found, strict=True):
            total[own].add_(part)
    return x_gradient, *totals


def _elements_of_a_piece(
    function: Pointwise, x: torch.Tensor, parameter: torch.Tensor
) -> int:
    most = PIECE if x.device.type == "cpu" else ON_ACCELERATOR
    return max(1, most // parameter.shape[-1]) if isinstance(function, VAF) else most


def _pieces(
    function: Pointwise, layout: Layout, x: torch.Tensor, parameter: torch.Tensor
) -> Iterator[tuple[Slices, Slices]]:
    """Yield the slices of x and the slices of all parameters for each piece."""
    most = _elements_of_a_piece(function, x, parameter)
    steps = list(x.shape)
    for axis in _cutting_order(layout, x.shape, most):
        if math.prod(steps) <= most:
            break
        steps[axis] = max(1, most * steps[axis] // math.prod(steps))
    for piece in itertools.product(
        *(
            [slice(start, start + step) for start in range(0, size, max(1, step))]
            for size, step in zip(x.shape, steps, strict=True)
        )
    ):
        yield piece, tuple(piece[axis] for axis in layout.unshared)


def _cutting_order(layout: Layout, shape: torch.Size, most: int) -> list[int]:
    """Return the axes in the order in which they are cut.

    If there are many functions, the unshared axes come first, so that a piece has few.
    """
    functions = math.prod(shape[axis] for axis in layout.unshared)
    many = 8 * functions > most
    return sorted(range(layout.rank), key=lambda a: many and a not in layout.unshared)
