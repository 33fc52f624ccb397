"""`apply`, a VAF with one packed weight by the Triton kernels, on PyTorch.

Eager calls use a kernel for the value and one for the gradient. Compiled programs use
the mixed form: Inductor merges the formula with the operations around it, and one
kernel computes the gradient, because Inductor would read x once for each sum.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.gpu.plan import MOST_UNITS, plan, refusal, unusable
from keras_vaf.ops.modes_on_torch import Axes, dense, in_memory, like, transformed
from keras_vaf.ops.native.case import FUNCTIONS
from keras_vaf.ops.switches import kernels_are_off

Tensor = torch.Tensor
_KERNEL = "keras_vaf.ops.gpu.triton_on_torch"
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_reasons: dict[torch.device, str] = {}  # `torch.compile` warns of `functools.cache`


def apply(
    x: Tensor, weight: Tensor, g: str, axes: Axes, formula: Callable[..., Tensor]
) -> Tensor | None:
    """Return f(x) by the kernels, or `None` if they do not take the call.

    The weight has one row of 3k + 1 numbers for each function: alpha, alpha_bias and
    beta of the hidden units, and beta_bias. The functions differ along axes of x.
    `formula` is the same function of x and the weight, in PyTorch's operators.
    """
    if (
        cannot_run(x.device)
        or g not in FUNCTIONS
        or {x.dtype, weight.dtype}.difference(_DTYPES)
        or weight.shape[-1] > 3 * MOST_UNITS + 1
        or (axes and axes != tuple(range(axes[0], axes[0] + len(axes))))
        or tuple([x.shape[axis] for axis in axes]) != tuple(weight.shape[:-1])
        or x.numel() == 0
        or kernels_are_off()
        or torch.jit.is_tracing()
    ):
        return None
    if torch.compiler.is_compiling():
        if transformed() or torch.compiler.is_exporting():
            return None
    elif not in_memory(x, weight):
        return None
    y: Tensor = _Kernels.apply(x, weight.float().contiguous(), g, axes, formula)
    return y


@torch.compiler.assume_constant_result
def cannot_run(device: torch.device) -> str:
    """Return why the kernels cannot run on a device, or `""`."""
    if device not in _reasons:
        generation = 0
        if (
            device.type == "cuda"
            and torch.cuda.is_available()
            and not torch.version.hip
        ):
            generation, _ = torch.cuda.get_device_capability(device)
        _reasons[device] = unusable(generation, _KERNEL)
    return _reasons[device]


def inactive() -> str:
    """Return why PyTorch's own operators compute VAFs on a GPU, or `""`."""
    if reason := cannot_run(torch.device("cuda")):
        return reason
    x = torch.zeros(4, device="cuda")
    return "" if run(None, x, x, "relu", ()) else "Triton refuses them"


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

    It is `None` if the kernel does not work. `wrap` prepares it for compiled programs.
    """
    x, sizes = dense(x, axes, cached=not wrap)
    k, dtype, gradient = weight.shape[-1] // 3, x.dtype, upstream is not None
    p = plan(sizes, k, dtype.itemsize, gradient)
    out, sums = torch.empty_like(x), None
    if upstream is not None:
        upstream = like(x, upstream)
        sums = weight.new_empty(p.programs, p.columns, 3 * k + 1)
    kernel = importlib.import_module(_KERNEL).kernel
    launch = functools.partial(
        (wrap(kernel) if wrap else kernel)[(p.blocks * p.programs,)],
        *(upstream, x, out, sums, weight, *p[:9], k, g),
        num_warps=p.warps,
    )
    with torch.cuda.device_of(x):
        if refusal((g, k, dtype, p.by_column, gradient), launch):
            return None
    if sums is None:
        return (out,)
    parts = sums.view(p.programs, *weight.shape[:-1], -1, 3 * k + 1)
    return out, parts.sum((0, -2))
