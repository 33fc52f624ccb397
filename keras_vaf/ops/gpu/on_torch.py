"""`apply`, a VAF with one packed weight by the Triton kernels, on PyTorch.

Eager calls use a kernel for the value and one for the gradient. Compiled programs use
the mixed form: Inductor merges the formula with the operations around it, and one
kernel computes the gradient, because Inductor would read x once for each sum.
"""

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.gpu.plan import MOST_UNITS, Plan, plan
from keras_vaf.ops.gpu.trial import refusal, unusable
from keras_vaf.ops.modes_on_torch import in_memory, transformed
from keras_vaf.ops.native.case import FUNCTIONS
from keras_vaf.ops.switches import kernels_are_off

Tensor = torch.Tensor
Axes = tuple[int, ...]
_KERNEL = "keras_vaf.ops.gpu.triton_on_torch"
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
        or cannot_run(x.device)
    ):
        return False
    if torch.compiler.is_compiling():
        return not transformed() and not torch.compiler.is_exporting()
    return in_memory(x, weight)


def on_gpu(x: Tensor) -> bool:
    """Return whether a tensor is on a GPU that PyTorch calls CUDA."""
    return x.is_cuda


@torch.compiler.assume_constant_result
@functools.lru_cache(maxsize=64)
def cannot_run(device: torch.device | None) -> str:
    """Return why the kernels cannot run on a GPU, or `""`."""
    capability = 0.0
    if torch.cuda.is_available() and not torch.version.hip:
        major, minor = torch.cuda.get_device_capability(device)
        capability = major + minor / 10
    return unusable(capability, _KERNEL)


def inactive() -> str:
    """Return why PyTorch's own operators compute VAFs on a GPU, or `""`."""
    if reason := cannot_run(None):
        return reason
    x = torch.zeros(4, device="cuda")
    return "" if run(x, x, x, "relu", ()) else "Triton refuses them"


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
        compiled = torch.compiler.is_compiling()
        found = None if compiled else run(None, x, weight, ctx.g, ctx.axes)
        result: Tensor = found[0] if found else ctx.formula(x, weight)
        return result

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        (x, weight), found = ctx.saved_tensors, None
        if torch.compiler.is_compiling():
            found = _operator(upstream, x, weight, ctx.g, [*ctx.axes])
        elif not torch.is_grad_enabled() and in_memory(upstream, x, weight):
            found = run(upstream, x, weight, ctx.g, ctx.axes)
        found = found or torch.func.vjp(ctx.formula, x, weight)[1](upstream)
        return *found, None, None, None


@torch.library.triton_op("keras_vaf::gradients", mutates_args=())
def _operator(
    upstream: Tensor, x: Tensor, weight: Tensor, g: str, axes: list[int]
) -> tuple[Tensor, Tensor]:
    found: Any = run(upstream, x, weight, g, tuple(axes), torch.library.wrap_triton)
    return found


def run(
    upstream: Tensor | None,
    x: Tensor,
    weight: Tensor,
    g: str,
    axes: Axes,
    wrap: Callable[[Any], Any] | None = None,
) -> tuple[Tensor, ...] | None:
    """Return f(x), or the gradients of x and of the weight if `upstream` is given.

    Return `None` if the kernel does not work. `wrap` prepares it for a program that is
    compiled.
    """
    divide = _divide.__wrapped__ if wrap else _divide  # no cache holds symbolic sizes
    k, dtype, gradient = weight.shape[-1] // 3, x.dtype, upstream is not None
    settings = axes, k, dtype, x.device, gradient
    p: Any = None if x.is_neg() else divide(x.shape, x.stride(), *settings)
    if p is None:
        x = x.resolve_neg().contiguous()
        p = divide(x.shape, x.stride(), *settings)
    out, sums = torch.empty_like(x), None
    if upstream is not None:
        if upstream.stride() != x.stride() or upstream.is_neg():
            upstream = torch.empty_like(x).copy_(upstream)
        inner = p.inner if p.columns else 1
        sums = weight.new_empty(p.programs, p.units, inner, 3 * k + 1)
    kernel = importlib.import_module(_KERNEL).kernel
    launch = functools.partial(
        (wrap(kernel) if wrap else kernel)[(p.blocks * p.programs,)],
        *(upstream, x, out, sums, weight, p.outer, p.units, p.inner, k, g),
        *(p.rows, p.width, p.columns),
        num_warps=p.warps,
    )
    with torch.cuda.device_of(x):
        if wrap:
            launch()
        else:
            captured = torch.cuda.is_current_stream_capturing()
            if refusal((g, k, dtype, p.columns, gradient), launch, captured):
                return None
    return (out,) if sums is None else (out, sums.sum((0, 2)).view(weight.shape))


@functools.lru_cache(maxsize=4096)
def _divide(
    shape: torch.Size,
    strides: tuple[int, ...],
    axes: Axes,
    k: int,
    dtype: torch.dtype,
    device: torch.device,
    gradient: bool,
) -> Plan | None:
    """Return the division of an input whose memory is dense, in any order.

    `None` means that the memory has gaps, or other axes between the unshared ones.
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
    count = 1  # in Triton's interpreter
    if device.type == "cuda":
        count = torch.cuda.get_device_properties(device).multi_processor_count
    return plan((outer, units, inner), k, dtype.itemsize, count, gradient)
