"""`apply`, which computes a VAF with one packed weight.

The native kernels compute each call that they cover. Where they are missing, PyTorch
differentiates the plain formula, which takes less time than a gradient of our own: 0.4
to 0.8 times as long on a CPU. For inputs in half precision the formula is computed
again for the gradient, because PyTorch would keep 3k + 1 tensors in float32. Programs
that are compiled, exported or transformed consist of the plain formula. On a GPU, the
kernels of `keras_vaf.ops.gpu` compute each call that they take, and the gradient in
compiled programs.
"""

import functools
from typing import Any

import torch

from keras_vaf.ops import VAF as Equation
from keras_vaf.ops import on_torch as kernels
from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.gpu import on_torch as gpu
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.modes_on_torch import in_memory
from keras_vaf.ops.native import Case
from keras_vaf.torch.functions import G, on_torch

Axes = tuple[int, ...]


def formula(x: torch.Tensor, weight: torch.Tensor, g: G, axes: Axes) -> torch.Tensor:
    """Return f(x) in the dtype of x, computed in float32 at least.

    Args:
        x: The input.
        weight: One row of 3k + 1 numbers for each function.
        g: Fixed function of the hidden units.
        axes: Axes of x along which the functions differ.
    """
    wide = torch.promote_types(x.dtype, torch.float32)
    h, rows = x.to(wide), weight.to(wide)
    if axes:
        shape = [1] * x.ndim
        for axis, size in zip(axes, weight.shape, strict=False):
            shape[axis] = size
        rows = rows.reshape(*shape, weight.shape[-1])
    *numbers, y = rows.unbind(-1)
    k = len(numbers) // 3
    for j in range(k):
        hidden = g(numbers[j] * h + numbers[k + j])
        y = y + numbers[2 * k + j] * hidden
    return y.to(x.dtype)


def apply(
    x: torch.Tensor, weight: torch.Tensor, g: str | G, axes: Axes
) -> torch.Tensor:
    """Return f(x) in the form that takes the least time (see the module)."""
    function = on_torch(g)
    if isinstance(g, str) and gpu.on_gpu(x):
        places = tuple([axis % x.ndim for axis in axes])
        if gpu.takes(x, weight, g, places):
            plain = functools.partial(formula, g=function, axes=places)
            return gpu.apply(x, weight, g, places, plain)
    recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if recorded or not in_memory(x, weight):
        return formula(x, weight, function, axes)
    order = _order_of_memory(x) if len(axes) < 2 else []
    if order:
        moved = tuple(order.index(axis % x.ndim) for axis in axes)
        place = [order.index(axis) for axis in range(x.ndim)]
        return apply(x.permute(order), weight, g, moved).permute(place)
    case = _case(x, weight, g, axes)
    half = x.dtype.itemsize < 4 and torch.is_grad_enabled()
    if case is None and not half:
        return formula(x, weight, function, axes)
    y: torch.Tensor = _Recomputed.apply(x, weight, function, axes, case)
    return y


def _order_of_memory(x: torch.Tensor) -> list[int]:
    """Return the axes in the order of memory if it is not the usual one, else `[]`."""
    if x.is_contiguous():
        return []
    order = sorted(range(x.ndim), key=x.stride, reverse=True)
    return order if x.permute(order).is_contiguous() else []


def _case(x: torch.Tensor, weight: torch.Tensor, g: str | G, axes: Axes) -> Case | None:
    """Return the case of the native kernels if they cover this call."""
    if not isinstance(g, str) or g not in BY_NAME:
        return None
    layout = Layout(x.ndim, tuple(axis % x.ndim for axis in axes))
    return kernels.covered(Equation(BY_NAME[g].value), layout, x, *_parts(weight))


def _parts(weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return alpha, alpha_bias, beta and beta_bias in the dtype of the kernels."""
    k = weight.shape[-1] // 3
    rows = weight.float() if weight.dtype.itemsize < 4 else weight
    return *rows[..., : 3 * k].split(k, -1), rows[..., -1]


class _Recomputed(torch.autograd.Function):
    """f(x), which keeps only x and the weight for the gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        g: G,
        axes: Axes,
        case: Case | None,
    ) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.g, ctx.axes, ctx.case = g, axes, case
        if case is None:
            return formula(x, weight, g, axes)
        return kernels.forward(case, x, *_parts(weight))

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        again = torch.is_grad_enabled() or ctx.case is None
        if again or not in_memory(upstream, x, weight):

            def compute(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
                return formula(x, weight, ctx.g, ctx.axes)

            found = torch.func.vjp(compute, x, weight)[1](upstream)
            return *found, None, None, None
        for_x, *parts, last = kernels.gradients(ctx.case, upstream, x, *_parts(weight))
        packed = torch.cat([*parts, last.unsqueeze(-1)], -1)
        return for_x, packed.to(weight.dtype), None, None, None
