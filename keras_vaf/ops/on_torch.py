"""`vaf`, a VAF with one packed weight on PyTorch, and `apply`, the operation.

Kernels compute what they take, wherever no program is recorded or transformed.
Elsewhere PyTorch differentiates the formula and keeps 2k + 1 tensors of the size of x.
They would be in float32 for inputs in half precision, so the formula is computed again
there. Programs that are compiled for a GPU have the mixed form: Inductor merges the
formula with the operations around it, and one kernel computes the gradient, because
Inductor would read x once for each sum.
"""

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.activations import IN_KERNELS, name_of
from keras_vaf.ops.case import TYPES, Case, case_of
from keras_vaf.ops.equation import VAF, Layout, Pointwise, formula
from keras_vaf.ops.functions_on_torch import G, vaf_formula
from keras_vaf.ops.gpu import on_torch as gpu
from keras_vaf.ops.gpu.plan import MOST_UNITS
from keras_vaf.ops.modes_on_torch import (
    LIBRARY,
    Axes,
    dense,
    in_memory,
    like,
    transformed,
)
from keras_vaf.ops.native import library
from keras_vaf.ops.native.library import ARRAYS, Call, check

Tensor = torch.Tensor
Kernels = Callable[..., tuple[Tensor, ...] | None]
_DTYPES = {getattr(torch, name): name for name in TYPES}
# PyTorch 2.6 does not tell an export from another program.
_is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)
_ARRAYS = struct.Struct(f"={2 * len(ARRAYS)}q")  # addresses, then bytes


def apply(
    function: Pointwise, layout: Layout, training: bool, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x, *parameters)."""
    axes = layout.unshared
    if type(function) is VAF:
        plain = functools.partial(vaf_formula, function.g, layout)
        return _road(plain, name_of(function.g), axes, x, *parameters)
    plain = functools.partial(formula, function, layout)
    return _road(plain, None, axes, x, *parameters)


def vaf(x: Tensor, weight: Tensor, g: str | G, axes: Axes = ()) -> Tensor:
    """Return f(x) in the dtype of x, computed in float32 at least.

    Args:
        x: Tensor of floats.
        weight: One row for each function, of shape `(*sizes of axes, 3k + 1)`: alpha,
            alpha_bias and beta of the hidden units, and beta_bias.
        g: Name of a known function, or a function of tensors.
        axes: Axes of x along which the functions differ, in ascending order. A negative
            one counts from the end.

    Raises:
        ValueError: If x is not of a floating-point type, or does not have these axes
            with these sizes.
    """
    axes = _axes_of(x, weight, axes)
    if weight.dtype.itemsize < 4:
        weight = weight.float()
    plain = functools.partial(vaf_formula, g, Layout(x.ndim, axes))
    return _road(plain, g if isinstance(g, str) else None, axes, x, weight)


def _axes_of(x: Tensor, weight: Tensor, axes: Axes) -> Axes:
    """Return the axes counted from 0, or raise a `ValueError` if x does not fit."""
    found = tuple([axis + x.ndim if axis < 0 else axis for axis in axes])
    if (
        not x.is_floating_point()
        or [*found] != [axis for axis in range(x.ndim) if axis in found]
        or [x.shape[axis] for axis in found] != [*weight.shape[:-1]]
    ):
        raise ValueError(
            "A VAF acts on tensors of floating-point numbers that have the axes of its "
            "weight, in ascending order. Received: an input of dtype "
            f"{x.dtype} and shape {tuple(x.shape)}, functions of shape "
            f"{tuple(weight.shape[:-1])} along axes={axes}"
        )
    return found


def _road(
    plain: Callable[..., Tensor],
    g: str | None,
    axes: Axes,
    x: Tensor,
    *parameters: Tensor,
) -> Tensor:
    """Return f(x), which `plain` computes from x and all parameters in operators.

    Kernels know g by its name. A VAF has one packed weight, or the four of a Keras
    layer: to pack them would take as long as all the rest does for few elements.
    """
    compiled = torch.compiler.is_compiling()
    if compiled:
        kept = transformed() or _is_exporting()
    else:
        kept = torch.jit.is_tracing() or not in_memory(x, *parameters)
    if kept:
        return plain(x, *parameters)
    kernels = _kernels(g, axes, x, *parameters) if g else None
    half = x.dtype.itemsize < 4 and not compiled
    if torch.is_grad_enabled() and (half or kernels is not None):
        y: Tensor = _Recomputed.apply(plain, kernels, x, *parameters)
        return y
    found = None if kernels is None else kernels(None, x, *parameters)
    return plain(x, *parameters) if found is None else found[0]


def _kernels(g: str, axes: Axes, x: Tensor, *parameters: Tensor) -> Kernels | None:
    """Return the kernels that take a call, or `None`."""
    on_gpu, found = not gpu.cannot_run(x.device), library.find().library
    on_cpu = x.device.type == "cpu" and not torch.compiler.is_compiling()
    if not on_gpu and (found is None or not on_cpu):
        return None
    *units, last = parameters
    sizes, dtype = last.shape if units else last.shape[:-1], _DTYPES.get(x.dtype, "")
    k = units[0].shape[-1] if units else last.shape[-1] // 3
    case = case_of(g, dtype, x.shape, axes, k, sizes)
    if (
        case is None
        or last.dtype != torch.float32
        or [p.shape for p in units] != [(*sizes, k)] * len(units)
        or x.numel() == 0
    ):
        return None
    if not on_gpu:
        return functools.partial(run, found, case)
    return functools.partial(_run_on_gpu, g, axes) if k <= MOST_UNITS else None


def _run_on_gpu(
    g: str, axes: Axes, upstream: Tensor | None, x: Tensor, *parameters: Tensor
) -> tuple[Tensor, ...] | None:
    *units, last = parameters
    weight = torch.cat([*units, last.unsqueeze(-1)], -1) if units else last
    found = gpu.run(g, axes, upstream, x, weight)
    if found is None or upstream is None or not units:
        return found
    *parts, last = found[1].split([units[0].shape[-1]] * 3 + [1], -1)
    return found[0], *parts, last.squeeze(-1)


class _Recomputed(torch.autograd.Function):
    """A function that keeps only its arguments for the gradient.

    `kernels(upstream, *tensors)` returns a tuple: its value, or the gradients if
    `upstream` is given. It returns `None` for what the kernels leave to `plain`.
    """

    @staticmethod
    def forward(
        ctx: Any, plain: Any, kernels: Kernels | None, *tensors: Tensor
    ) -> Tensor:
        ctx.plain, ctx.kernels = plain, kernels
        ctx.save_for_backward(*tensors)
        found = None if kernels is None else kernels(None, *tensors)
        y: Tensor = plain(*tensors) if found is None else found[0]
        return y

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        tensors, found = ctx.saved_tensors, None
        again = torch.is_grad_enabled()
        if ctx.kernels is not None and (
            torch.compiler.is_compiling()
            or (not again and in_memory(upstream, *tensors))
        ):
            found = ctx.kernels(upstream, *tensors)
        if found is None:
            # The caller needs the gradients of all arguments, also of frozen ones.
            leaves = [
                t if t.requires_grad else t.detach().requires_grad_() for t in tensors
            ]
            with torch.enable_grad():
                y = ctx.plain(*leaves)
                found = torch.autograd.grad(y, leaves, upstream, create_graph=again)
        return None, None, *found


def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    return library.find().reason


def run(
    kernels: Any, case: Case, upstream: Tensor | None, x: Tensor, *parameters: Tensor
) -> tuple[Tensor, ...]:
    """Return f(x), or the gradients of all tensors if `upstream` is given."""
    x, sizes = dense(x, case.unshared)
    parts = [p.resolve_neg().contiguous() for p in parameters]
    out, rest = torch.empty_like(x), [None] * (4 - len(parts))
    if upstream is None:
        call, found = kernels.vaf_forward, []
        tensors = x, None, out, *parts
    else:
        call, found = kernels.vaf_backward, [torch.empty_like(p) for p in parts]
        tensors = x, like(x, upstream), out, *parts, *rest, *found
    addresses = [0 if tensor is None else tensor.data_ptr() for tensor in tensors]
    bytes_each = [0 if tensor is None else tensor.nbytes for tensor in tensors]
    unused = [0] * (len(ARRAYS) - len(tensors))
    arrays = _ARRAYS.pack(*addresses, *unused, *bytes_each, *unused)
    settings = _settings(case, sizes, len(parts) == 1)
    if failed := call(settings + arrays, torch.get_num_threads()):
        check(failed)
    return out, *found


@functools.lru_cache(maxsize=1024)
def _settings(case: Case, sizes: tuple[int, int, int], packed: bool) -> bytes:
    """Return the members of a call before its arrays."""
    function, slope = IN_KERNELS[case.g]
    members = function, TYPES[case.dtype], slope, case.k, 1, *sizes  # one network
    return bytes(Call(*members, packed))[: -_ARRAYS.size]


def _use_threads_of_torch() -> None:
    """Run the kernels on PyTorch's threads, which wait actively for work."""
    try:  # not those of the process, which may have a second OpenMP
        parallel = ctypes.CDLL(LIBRARY).GOMP_parallel
    except (OSError, AttributeError):  # this PyTorch was built without OpenMP
        return
    found: Any = library.find().library
    found.vaf_use_openmp(ctypes.cast(parallel, ctypes.c_void_p))


if library.find().library is not None:
    _use_threads_of_torch()
