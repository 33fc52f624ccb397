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
from torch.nn import functional

from keras_vaf.ops.activations import BY_NAME, IN_KERNELS, name_of
from keras_vaf.ops.equation import VAF, Layout, Pointwise, formula
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
from keras_vaf.ops.native.case import TYPES, Case, case_of
from keras_vaf.ops.native.library import ARRAYS, Call, check

Tensor = torch.Tensor
G = Callable[[Tensor], Tensor]
Kernels = Callable[..., tuple[Tensor, ...] | None]
_DTYPES = {getattr(torch, name): name for name in TYPES}
_ARRAYS = struct.Struct(f"={2 * len(ARRAYS)}q")  # addresses, then bytes


def approximate_gelu(h: Tensor) -> Tensor:
    """Return the approximation of GELU by tanh."""
    return functional.gelu(h, approximate="tanh")


_IN_TORCH = ("cos", "erf", "relu", "selu", "sigmoid", "sin", "square", "tanh")
_IN_FUNCTIONAL = (
    *("celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_tanh"),
    *("log_sigmoid", "mish", "relu6", "silu", "soft_shrink", "softplus", "softsign"),
    "tanh_shrink",
)
FUNCTIONS: dict[str, G] = {
    **{name: getattr(torch, name) for name in _IN_TORCH},
    **{name: getattr(functional, name.replace("_", "")) for name in _IN_FUNCTIONAL},
    "approximate_gelu": approximate_gelu,
    "exponential": torch.exp,
    "hard_silu": functional.hardswish,
    "leaky_relu": lambda h: functional.leaky_relu(h, 0.2),  # as in Keras
    "relu_squared": lambda h: torch.relu(h).square(),
}
"""Functions g by name: those of `VAFActivation`, and `"approximate_gelu"`."""


def apply(
    function: Pointwise, layout: Layout, training: bool, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x, *parameters)."""
    if type(function) is VAF:
        name = name_of(function.g) or ""
        return _road(name, function.g, layout.unshared, x, *parameters)
    plain = functools.partial(formula, function, layout)
    half = x.dtype.itemsize < 4 and torch.is_grad_enabled()
    if not half or _recorded() or not in_memory(x, *parameters):
        return plain(x, *parameters)
    y: Tensor = _Recomputed.apply(plain, None, x, *parameters)
    return y


def vaf(x: Tensor, weight: Tensor, g: str | G, axes: Axes = ()) -> Tensor:
    """Return f(x) in the dtype of x, computed in float32 at least.

    Args:
        x: Tensor of floats.
        weight: One row for each function, of shape `(*sizes of axes, 3k + 1)`: alpha,
            alpha_bias and beta of the hidden units, and beta_bias.
        g: Name of a known function, or a function of tensors.
        axes: Axes of x along which the functions differ, in ascending order.

    Raises:
        ValueError: If x is not of a floating-point type, or does not have these axes
            with these sizes.
    """
    name = g if isinstance(g, str) else ""
    return _road(name, function_of(g), _axes_of(x, weight, axes), x, weight)


def pack(*parameters: Tensor) -> Tensor:
    """Return the weight of four parameters, or the one that is packed."""
    *units, last = parameters
    return torch.cat([*units, last.unsqueeze(-1)], -1) if units else last


def unpack(weight: Tensor) -> tuple[Tensor, ...]:
    """Return views of alpha, alpha_bias, beta and beta_bias."""
    *parts, last = weight.split([weight.shape[-1] // 3] * 3 + [1], -1)
    return *parts, last.squeeze(-1)


def _road(name: str, g: G, axes: Axes, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) of a packed weight or of four parameters, where `name` is that of g.

    Four are packed inside of what autograd records: small inputs would take longer.
    """
    if parameters[0].dtype.itemsize < 4:
        parameters = tuple([p.float() for p in parameters])
    plain = functools.partial(vaf_formula, g, axes)
    compiled = torch.compiler.is_compiling()
    if compiled:
        kept = transformed() or torch.compiler.is_exporting()
    else:
        kept = torch.jit.is_tracing() or not in_memory(x, *parameters)
    if kept:
        return plain(x, *parameters)
    kernels, graded = _kernels(name, axes, x, *parameters), torch.is_grad_enabled()
    half = x.dtype.itemsize < 4 and not compiled
    if graded and (half or kernels is not None):
        y: Tensor = _Recomputed.apply(plain, kernels, x, *parameters)
        return y
    found = None if kernels is None else kernels(None, x, *parameters)
    return plain(x, *parameters) if found is None else found[0]


def _axes_of(x: Tensor, weight: Tensor, axes: Axes) -> Axes:
    """Return the axes counted from 0, or raise a `ValueError` if x does not fit."""
    found = tuple([axis + x.ndim if axis < 0 else axis for axis in axes])
    known = [axis for axis in range(x.ndim) if axis in found]
    if (
        not x.is_floating_point()
        or [*found] != known
        or [x.shape[axis] for axis in found] != [*weight.shape[:-1]]
    ):
        raise ValueError(
            "A VAF acts on tensors of floating-point numbers that have the axes of its "
            "weight, in ascending order. Received: an input of dtype "
            f"{x.dtype} and shape {tuple(x.shape)}, functions of shape "
            f"{tuple(weight.shape[:-1])} along axes={axes}"
        )
    return found


def _kernels(name: str, axes: Axes, x: Tensor, *parameters: Tensor) -> Kernels | None:
    """Return the kernels that take a call, or `None`."""
    dtype = _DTYPES.get(x.dtype, "")
    *units, last = parameters
    k, sizes = last.shape[-1] // 3 if not units else units[0].shape[-1], last.shape
    case = case_of(name, dtype, x.shape, axes, k, sizes if units else sizes[:-1])
    if (
        case is None
        or last.dtype != torch.float32
        or [p.shape for p in units] != [(*sizes, k)] * len(units)
        or x.numel() == 0
    ):
        return None
    if not gpu.cannot_run(x.device):
        few = case.k <= MOST_UNITS
        return functools.partial(_run_on_gpu, case.g, axes) if few else None
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return None
    found = library.find().library
    return None if found is None else functools.partial(run, found, case)


def _run_on_gpu(
    g: str, axes: Axes, upstream: Tensor | None, x: Tensor, *parameters: Tensor
) -> tuple[Tensor, ...] | None:
    found = gpu.run(g, axes, upstream, x, pack(*parameters))
    if found is None or upstream is None or len(parameters) == 1:
        return found
    return found[0], *unpack(found[1])


def vaf_formula(g: G, axes: Axes, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) in PyTorch's operators."""
    wide, shape = torch.promote_types(x.dtype, parameters[0].dtype), [1] * x.ndim
    for axis in axes:
        shape[axis] = x.shape[axis]
    numbers: list[Tensor] = []  # 3k + 1
    for p in parameters:
        row = p.to(wide).reshape(*shape, *(p.shape[len(axes) :] or (1,)))
        numbers += row.unbind(-1)
    h, y, k = x.to(wide), numbers[-1], len(numbers) // 3
    for a, b, w in zip(numbers[:k], numbers[k:-k], numbers[2 * k :], strict=False):
        y = y + w * g(a * h + b)
    return y.to(x.dtype)


def function_of(g: str | G) -> G:
    """Return g as a function of tensors."""
    if not isinstance(g, str):
        return g
    found: G = FUNCTIONS[g] if g in FUNCTIONS else BY_NAME[g].value
    return found


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


def _recorded() -> bool:
    """Return whether a program is compiled or traced."""
    return torch.compiler.is_compiling() or torch.jit.is_tracing()


def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    return library.find().reason


def run(
    kernels: Any, case: Case, upstream: Tensor | None, x: Tensor, *parameters: Tensor
) -> tuple[Tensor, ...]:
    """Return f(x), or the gradients of all tensors if `upstream` is given."""
    x, sizes = dense(x, case.unshared)
    packed, out = len(parameters) == 1, torch.empty_like(x)
    parts = unpack(*parameters) if packed else parameters
    parts = tuple([part.resolve_neg().contiguous() for part in parts])
    if upstream is None:
        _run(kernels.vaf_forward, case, sizes, x, None, out, *parts, *[None] * 4)
        return (out,)
    found = [torch.empty_like(part) for part in parts]
    _run(kernels.vaf_backward, case, sizes, x, like(x, upstream), out, *parts, *found)
    return out, *([pack(*found)] if packed else found)


@functools.lru_cache(maxsize=1024)
def _settings(case: Case, sizes: tuple[int, int, int]) -> bytes:
    """Return the members of a call before its arrays."""
    function, slope = IN_KERNELS[case.g]
    call = Call(function, TYPES[case.dtype], slope, case.k, 1, *sizes)  # one network
    return bytes(call)[: -_ARRAYS.size]


def _run(run: Any, case: Case, sizes: Any, *tensors: Tensor | None) -> None:
    """Call a function of the library with tensors in the order of `ARRAYS`."""
    addresses = [0 if tensor is None else tensor.data_ptr() for tensor in tensors]
    bytes_each = [0 if tensor is None else tensor.nbytes for tensor in tensors]
    arrays = _ARRAYS.pack(*addresses, *bytes_each)
    call = Call.from_buffer_copy(_settings(case, sizes) + arrays)
    if failed := run(ctypes.byref(call), torch.get_num_threads()):
        check(failed)


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
