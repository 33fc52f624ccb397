"""The operation on PyTorch, eager or compiled.

Eager PyTorch runs one operation after the other, each a pass over memory. On a
processor the batch is therefore taken in pieces that stay in the cache between the
passes. `torch.compile` fuses the passes, and recomputes what it needs, by itself.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch

from keras_vaf.ops.automatic import vjp
from keras_vaf.ops.base import Pointwise
from keras_vaf.ops.gradient import forward
from keras_vaf.ops.layout import Layout

PIECE = 262_144
"""Elements of a piece of the batch, which all cores work on."""


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> torch.Tensor:
    """f(x, *parameters) with a gradient that keeps x alone."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return forward(function, layout, x, *parameters)
    return _Apply.apply(function, layout, x, *parameters)


class _Apply(torch.autograd.Function):
    @staticmethod
    def forward(
        function: Pointwise, layout: Layout, x: torch.Tensor, *parameters: torch.Tensor
    ) -> torch.Tensor:
        y = torch.empty_like(x)
        for piece in _pieces(x):
            y[piece] = forward(function, layout, x[piece], *parameters)
        return y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.function, ctx.layout, *arguments = inputs
        ctx.save_for_backward(*arguments)
        ctx.save_for_forward(*arguments)

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        compute = _plain_gradients if torch.is_grad_enabled() else _gradients
        gradients = compute(ctx.function, ctx.layout, upstream, *ctx.saved_tensors)
        return None, None, *gradients

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: Any, layout: Any, *tensors: Any
    ) -> tuple[torch.Tensor, int]:
        plain = functools.partial(forward, function, layout)
        return torch.vmap(plain, in_dims[2:])(*tensors), 0

    @staticmethod
    def jvp(ctx: Any, _function: None, _layout: None, *tangents: Any) -> torch.Tensor:
        plain = functools.partial(forward, ctx.function, ctx.layout)
        primals = ctx.saved_tensors
        tangents = tuple(
            torch.zeros_like(p) if t is None else t
            for p, t in zip(primals, tangents, strict=True)
        )

        def pull_back(upstream: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return vjp(plain, primals, upstream)

        # PyTorch cannot nest forward mode: the gradient of a gradient stands in for it.
        (tangent,) = vjp(pull_back, (torch.zeros_like(primals[0]),), tangents)
        return tangent


def _pieces(x: torch.Tensor) -> Iterator[slice]:
    if x.device.type != "cpu" or x.numel() <= PIECE:
        yield slice(None)
        return
    rows = max(1, PIECE * x.shape[0] // x.numel())
    for start in range(0, x.shape[0], rows):
        yield slice(start, start + rows)


def _gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Of x and of each parameter, piece by piece.

    Automatic differentiation makes fewer passes than closed forms would, and what it
    keeps of a piece is small.
    """
    x_gradient = torch.empty_like(upstream)  # as many as a vmap over it asks for
    totals: list[Any] = [0.0] * len(parameters)
    for piece in _pieces(x):
        x_gradient[piece], *found = _plain_gradients(
            function, layout, upstream[piece], x[piece], *parameters
        )
        totals = [total + part for total, part in zip(totals, found, strict=True)]
    return x_gradient, *totals


def _plain_gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    *arguments: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """The same all at once, which can be differentiated again."""
    plain = functools.partial(forward, function, layout)
    return vjp(plain, arguments, upstream)
