"""`apply`, a VAF with one packed weight by the Triton kernels, on PyTorch.

Eager calls use a kernel for the value and one for the gradient. Compiled programs use
the mixed form: Inductor merges the formula with the operations around it, and one
kernel computes the gradient, because Inductor would read x once for each sum.
"""

import functools
import importlib
import math
import os
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.gpu.plan import MOST_UNITS, Plan, plan
from keras_vaf.ops.gpu.trial import works
from keras_vaf.ops.modes_on_torch import in_memory, transformed
from keras_vaf.ops.native.case import FUNCTIONS
from keras_vaf.ops.switches import kernels_are_off

Tensor = torch.Tensor
Axes = tuple[int, ...]
OLDEST = (8, 0)
"""Compute capability of an A100. The kernels were not tried on older GPUs."""
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def takes(x: Tensor, weight: Tensor, g: str, axes: Axes) -> bool:
    """Return whether the kernels take this call.

    The weight has one row of 3k + 1 numbers for each function: alpha, alpha_bias and
    beta of the hidden units, and beta_bias. The functions differ along axes of x.
    """
    if (
        not on_gpu(x)
        or g not in FUNCTIONS
        or {x.dtype, weight.dtype}.difference(_DTYPES)
        or weight.shape[-1] > 3 * MOST_UNITS + 1
        or (axes and axes != tuple(range(axes[0], axes[0] + len(axes))))
        or tuple([x.shape[axis] for axis in axes]) != tuple(weight.shape[:-1])
        or x.numel() == 0
        or kernels_are_off()
        or torch.jit.is_tracing()
        or inactive(x.device)
    ):
        return False
    if torch.compiler.is_compiling():  # nothing can be tried, and Inductor needs Triton
        return not transformed() and not torch.compiler.is_exporting()
    # They cannot start while a graph is captured.
    ready = in_memory(x, weight) and not torch.cuda.is_current_stream_capturing()
    return ready and works(x.device, _try)


def on_gpu(x: Tensor) -> bool:
    """Return whether a tensor is on a GPU that PyTorch calls CUDA."""
    return x.is_cuda


@torch.compiler.assume_constant_result
@functools.lru_cache(maxsize=64)
def inactive(device: torch.device | None = None) -> str:
    """Return why PyTorch's own operators compute VAFs on a GPU, or `""`."""
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        return "the environment variable KERAS_VAF_KERNELS is 0"
    if not torch.cuda.is_available():
        return "PyTorch finds no GPU"
    if torch.version.hip:
        return "they were not tried on AMD's GPUs"
    if torch.cuda.get_device_capability(device) < OLDEST:
        return f"the GPU is older than compute capability {OLDEST[0]}.{OLDEST[1]}"
    try:
        _kernels()
    except ImportError as error:
        return f"Triton cannot be imported: {error}"
    return ""


def _kernels() -> Any:
    return importlib.import_module("keras_vaf.ops.gpu.triton_on_torch")


@torch.no_grad()
def _try(device: torch.device) -> None:
    x = torch.linspace(-2, 2, 32, device=device)
    y, slope, weight = x.relu(), (x > 0).float(), x.new_tensor([1, 0, 1, 0])
    found = forward(x, weight, "relu", ()), *backward(slope, x, weight, "relu", ())
    sums = torch.stack([y.sum(), slope.sum(), y.sum(), slope.sum()])
    torch.testing.assert_close(found, (y, slope, sums))


def apply(
    x: Tensor,
    weight: Tensor,
    g: str,
    axes: Axes,
    formula: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:
    """Return f(x) for a call that the kernels take.

    `formula` is the same function of x and the weight, in PyTorch's operators.
    """
    y: Tensor = _Kernels.apply(x, weight.float(), g, axes, formula)
    return y


class _Kernels(torch.autograd.Function):
    """f(x), which keeps x and the weight for the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, *rest: Any) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.g, ctx.axes, ctx.formula = rest
        if not torch.compiler.is_compiling():
            return forward(x, weight, ctx.g, ctx.axes)
        result: Tensor = ctx.formula(x, weight)
        return result

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        if torch.compiler.is_compiling():
            found = _operator(upstream, x, weight, ctx.g, [*ctx.axes])
        elif not torch.is_grad_enabled() and in_memory(upstream, x, weight):
            found = backward(upstream, x, weight, ctx.g, ctx.axes)
        else:
            found = torch.func.vjp(ctx.formula, x, weight)[1](upstream)
        return *found, None, None, None


@torch.library.triton_op("keras_vaf::gradients", mutates_args=())
def _operator(
    upstream: Tensor, x: Tensor, weight: Tensor, g: str, axes: list[int]
) -> tuple[Tensor, Tensor]:
    return backward(upstream, x, weight, g, tuple(axes), torch.library.wrap_triton)


def forward(x: Tensor, weight: Tensor, g: str, axes: Axes) -> Tensor:
    """Return f(x) by a kernel."""
    x, divided = _divide(x, weight, axes, False, _sizes)
    y = torch.empty_like(x)
    _launch(_kernels().forward, divided, g, x, y, weight)
    return y


def backward(
    upstream: Tensor,
    x: Tensor,
    weight: Tensor,
    g: str,
    axes: Axes,
    wrap: Callable[[Any], Any] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and of the weight by a kernel."""
    find = _sizes.__wrapped__ if wrap else _sizes  # no cache holds symbolic sizes
    x, divided = _divide(x, weight, axes, True, find)
    if upstream.stride() != x.stride() or upstream.is_neg():
        upstream = torch.empty_like(x).copy_(upstream)
    d_x = torch.empty_like(x)
    inner = divided.inner if divided.columns else 1
    sums = weight.new_empty(divided.programs, divided.units, inner, weight.shape[-1])
    kernel = _kernels().backward
    kernel = wrap(kernel) if wrap else kernel
    _launch(kernel, divided, g, upstream, x, d_x, sums, weight)
    return d_x, sums.sum((0, 2)).view(weight.shape)


def _divide(
    x: Tensor, weight: Tensor, axes: Axes, sums: bool, find: Callable[..., Any]
) -> tuple[Tensor, Plan]:
    """Return an input whose memory is dense, in any order, and the division of it."""
    dense = None if x.is_neg() else find(x.shape, x.stride(), axes)
    if dense is None:
        x = x.resolve_neg().contiguous()
        dense = find(x.shape, x.stride(), axes)
    count = 1  # in Triton's interpreter
    if x.is_cuda:
        count = torch.cuda.get_device_properties(x.device).multi_processor_count
    return x, plan(dense, weight.shape[-1] // 3, x.dtype.itemsize, count, sums)


@functools.lru_cache(maxsize=4096)
def _sizes(
    shape: torch.Size, strides: tuple[int, ...], axes: Axes
) -> tuple[int, int, int] | None:
    """Return the sizes before, along and behind some axes in the order of memory.

    `None` means that the memory has gaps, or other axes between these.
    """
    order = [axis for axis in range(len(shape)) if shape[axis] != 1]
    order.sort(key=lambda axis: strides[axis], reverse=True)
    behind = 1
    for axis in reversed(order):
        if strides[axis] != behind:
            return None
        behind *= shape[axis]
    places = [order.index(axis) for axis in axes if shape[axis] != 1]
    first, end = (places[0], places[-1] + 1) if places else (0, 0)
    if places != list(range(first, end)):
        return None
    parts = order[:first], order[first:end], order[end:]
    outer, units, inner = (math.prod(shape[axis] for axis in part) for part in parts)
    return outer, units, inner


def _launch(kernel: Any, p: Plan, g: str, *tensors: Tensor) -> None:
    k, shape = tensors[-1].shape[-1] // 3, (p.rows, p.width, p.columns)
    with torch.cuda.device_of(tensors[0]):
        kernel[(p.blocks * p.programs,)](
            *(*tensors, p.outer, p.units, p.inner, k, g, *shape), num_warps=p.warps
        )
