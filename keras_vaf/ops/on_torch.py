"""The operation on PyTorch, eager or compiled."""

import functools
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.gradient import forward, input_gradient, parameter_gradients
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.pointwise import Pointwise


@functools.cache
def differentiable(function: Pointwise, layout: Layout) -> Callable[..., torch.Tensor]:
    """f(x, *parameters) with a gradient that keeps x alone."""

    class Apply(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*arguments: torch.Tensor) -> torch.Tensor:
            return forward(function, layout, *arguments)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, ...]:
            arguments = ctx.saved_tensors
            return (
                input_gradient(function, layout, upstream, *arguments),
                *parameter_gradients(function, layout, upstream, *arguments),
            )

    return Apply.apply
