"""`run`, a VAF with one packed weight by the Triton kernels, on PyTorch."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, Sequence  # noqa: UP035 (PyTorch 2.6 knows no other one)

import torch

from keras_vaf.ops.gpu.plan import plan, refusal, unusable
from keras_vaf.ops.modes_on_torch import Axes, dense, like

Tensor = torch.Tensor
_KERNEL = "keras_vaf.ops.gpu.triton_on_torch"
_reasons: dict[torch.device, str] = {}  # `torch.compile` warns of `functools.cache`


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
    return "" if launch(None, x, x, "relu", ()) else "Triton refuses them"


def run(
    g: str, axes: Axes, upstream: Tensor | None, x: Tensor, weight: Tensor
) -> tuple[Tensor, ...] | None:
    """Return f(x), or the gradients of x and of the weight if `upstream` is given.

    It is `None` if the kernel does not work, and for f(x) in compiled programs.
    """
    if not torch.compiler.is_compiling():
        return launch(upstream, x, weight, g, axes)
    return None if upstream is None else _operator(upstream, x, weight, g, [*axes])


@torch.library.triton_op("keras_vaf::gradients", mutates_args=())
def _operator(
    upstream: Tensor, x: Tensor, weight: Tensor, g: str, axes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    found: Any = launch(upstream, x, weight, g, tuple(axes), torch.library.wrap_triton)
    return found


def launch(
    upstream: Tensor | None,
    x: Tensor,
    weight: Tensor,
    g: str,
    axes: Axes,
    wrap: Callable[[Any], Any] | None = None,
) -> tuple[Tensor, ...] | None:
    """Do what `run` does. `wrap` prepares the kernel for compiled programs."""
    weight = weight.contiguous()
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
