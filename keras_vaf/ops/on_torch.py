"""`apply`, the operation on PyTorch.

The native kernels act wherever tensors are on the CPU and no program is recorded,
compiled or transformed. Elsewhere PyTorch differentiates the formula and keeps 2k + 1
tensors of the size of x. They would be in float32 for inputs in half precision, so the
formula is computed again there.
"""

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import Any

import torch

from keras_vaf.ops.activations import name_of
from keras_vaf.ops.equation import VAF, Layout, Pointwise, formula
from keras_vaf.ops.gpu import on_torch as gpu
from keras_vaf.ops.modes_on_torch import LIBRARY, dense, in_memory, like
from keras_vaf.ops.native import library
from keras_vaf.ops.native.case import FUNCTIONS, TYPES, Case, case_of
from keras_vaf.ops.native.library import ARRAYS, Call, check

Tensor = torch.Tensor
_DTYPES = {getattr(torch, name): name for name in TYPES}
_ARRAYS = struct.Struct(f"={2 * len(ARRAYS)}q")  # addresses, then bytes


def apply(
    function: Pointwise, layout: Layout, training: bool, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x, *parameters)."""
    if not gpu.cannot_run(x.device) and type(function) is VAF:
        y = _on_gpu(function, layout, x, *parameters)
        if y is not None:
            return y
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return formula(function, layout, x, *parameters)
    plain = functools.partial(_formula, function)
    return eager(function, layout, plain, x, *parameters)


def eager(
    function: Pointwise,
    layout: Layout,
    plain: Callable[..., Tensor],
    x: Tensor,
    *parameters: Tensor,
) -> Tensor:
    """Return f(x). `plain` computes it in operators from the layout and all tensors."""
    tensors, case = (x, *parameters), None
    here = in_memory(*tensors)
    if here and x.device.type == "cpu" and x.numel() and not inactive():
        dtypes = [_DTYPES.get(tensor.dtype, "") for tensor in tensors]
        case = case_of(function, layout, dtypes, [tensor.shape for tensor in tensors])
    graded = torch.is_grad_enabled()
    if case is not None and not graded:  # a function of autograd takes longer
        return forward(case, *tensors)
    half = here and x.dtype.itemsize < 4 and graded
    if case is None and not half:
        return plain(layout, *tensors)
    y: Tensor = _Recomputed.apply(plain, layout, case, x, *parameters)
    return y


def _on_gpu(
    function: VAF, layout: Layout, x: Tensor, *parameters: Tensor
) -> Tensor | None:
    """Return f(x) by the kernels for GPUs, or `None` if they do not take the call."""
    alpha, g = parameters[0], name_of(function.g) or ""
    shapes = [alpha.shape] * 3 + [alpha.shape[:-1]]
    if [parameter.shape for parameter in parameters] != shapes:
        return None
    weight = torch.cat([*parameters[:3], parameters[3].unsqueeze(-1)], -1)
    plain = functools.partial(packed, functools.partial(formula, function), layout)
    return gpu.apply(x, weight, g, layout.unshared, plain)


def packed(
    plain: Callable[..., Tensor], layout: Layout, x: Tensor, weight: Tensor
) -> Tensor:
    """Return f(x), where one row of the weight has all numbers of a function."""
    return plain(layout, x, *split(weight))


def split(weight: Tensor) -> tuple[Tensor, ...]:
    """Return views of alpha, alpha_bias, beta and beta_bias."""
    *parts, last = weight.split([weight.shape[-1] // 3] * 3 + [1], -1)
    return *parts, last.squeeze(-1)


def _formula(
    function: Pointwise, layout: Layout, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x). The hidden units of a VAF form one more axis: few operations."""
    if not isinstance(function, VAF):
        return formula(function, layout, x, *parameters)
    if not layout.unshared:  # products of matrices compute the sums
        alpha, alpha_bias, beta, beta_bias = (p.reshape(-1, 1) for p in parameters)
        row = x.reshape(1, -1).to(alpha.dtype)
        device = "cpu" if x.is_meta else x.device.type
        with torch.autocast(device, enabled=False):  # it would round them to 16 bits
            hidden = function.g(torch.addmm(alpha_bias, alpha, row))
            y = torch.addmm(beta_bias, beta.T, hidden)
        return y.reshape(x.shape).to(x.dtype)
    alpha, alpha_bias, beta = (
        p.movedim(-1, 0).reshape(p.shape[-1], *layout.aligned(p))
        for p in parameters[:-1]
    )
    hidden = function.g(torch.addcmul(alpha_bias, alpha, x.to(alpha.dtype)))
    return ((beta * hidden).sum(0) + layout.align(parameters[-1])).to(x.dtype)


class _Recomputed(torch.autograd.Function):
    """f(x), whose gradient stores only x and the parameters."""

    @staticmethod
    def forward(
        ctx: Any, plain: Any, layout: Layout, case: Case | None, *tensors: Tensor
    ) -> Tensor:
        ctx.plain, ctx.layout, ctx.case = plain, layout, case
        ctx.save_for_backward(*tensors)
        y: Tensor = plain(layout, *tensors) if case is None else forward(case, *tensors)
        return y

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        tensors = ctx.saved_tensors
        again = torch.is_grad_enabled()
        if ctx.case is not None and not again and in_memory(upstream, *tensors):
            return None, None, None, *gradients(ctx.case, upstream, *tensors)
        # The caller needs the gradients of all arguments, also of frozen ones.
        leaves = [
            t if t.requires_grad else t.detach().requires_grad_() for t in tensors
        ]
        with torch.enable_grad():
            y = ctx.plain(ctx.layout, *leaves)
            found = torch.autograd.grad(y, leaves, upstream, create_graph=again)
        return None, None, None, *found


def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    return library.find().reason


def forward(case: Case, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) by the kernels."""
    x, sizes = dense(x, case.unshared)
    y = torch.empty_like(x)
    rest = [t.resolve_neg().contiguous() for t in parameters]
    _run("vaf_forward", case, sizes, x, None, y, *rest, *[None] * 4)
    return y


def gradients(
    case: Case, upstream: Tensor, x: Tensor, *parameters: Tensor
) -> tuple[Tensor, ...]:
    """Return the gradients of x and of each parameter by the kernels."""
    x, sizes = dense(x, case.unshared)
    rest = [t.resolve_neg().contiguous() for t in parameters]
    found = [torch.empty_like(t) for t in (x, *rest)]
    tensors = x, like(x, upstream), found[0], *rest, *found[1:]
    _run("vaf_backward", case, sizes, *tensors)
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def _settings(case: Case, sizes: tuple[int, int, int]) -> bytes:
    """Return the members of a call before its arrays."""
    function, slope = FUNCTIONS[case.g]
    call = Call(function, TYPES[case.dtype], slope, case.k, 1, *sizes)  # one network
    return bytes(call)[: -_ARRAYS.size]


def _run(name: str, case: Case, sizes: Any, *tensors: Tensor | None) -> None:
    """Call a function of the library with tensors in the order of `ARRAYS`."""
    addresses = [0 if tensor is None else tensor.data_ptr() for tensor in tensors]
    bytes_each = [0 if tensor is None else tensor.nbytes for tensor in tensors]
    arrays = _ARRAYS.pack(*addresses, *bytes_each)
    call = Call.from_buffer_copy(_settings(case, sizes) + arrays)
    run = getattr(library.find().library, name)
    check(run(ctypes.byref(call), torch.get_num_threads()))


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
