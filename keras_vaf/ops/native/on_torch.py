"""The native kernels on PyTorch, on tensors in main memory."""

import ctypes

import torch

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import modes_on_torch
from keras_vaf.ops.native.case import TYPES, Case, case_of
from keras_vaf.ops.native.library import Call, check, find

DTYPES = {getattr(torch, name): name for name in TYPES}
_PARAMETERS = ("alpha", "alpha_bias", "beta", "beta_bias")
_GRADIENTS = ("out", "d_alpha", "d_alpha_bias", "d_beta", "d_beta_bias")


def _use_threads_of_torch() -> None:
    """Run the kernels on PyTorch's threads, which wait actively for work.

    Other packages may bring an OpenMP of their own. The name is therefore looked up in
    PyTorch's library and the libraries that it was linked with, not in the process.
    """
    library = find().library
    if library is None:
        return
    try:
        parallel = ctypes.CDLL(modes_on_torch.library()).GOMP_parallel
    except (OSError, AttributeError):  # this PyTorch was built without OpenMP
        return
    library.vaf_use_openmp(ctypes.cast(parallel, ctypes.c_void_p))


_use_threads_of_torch()  # and find the library before `torch.compile` traces a call


def inactive() -> str:
    """Return why the kernels support no call, or `""`."""
    return find().reason


def covered(
    function: Pointwise, layout: Layout, x: torch.Tensor, *parameters: torch.Tensor
) -> Case | None:
    """Return the case if the kernels support this call, else `None`."""
    if x.device.type != "cpu":
        return None
    tensors = (x, *parameters)
    dtypes, shapes = (
        [DTYPES.get(t.dtype, "") for t in tensors],
        [t.shape for t in tensors],
    )
    return case_of(function, layout, dtypes, shapes)


def forward(
    case: Case, x: torch.Tensor, *parameters: torch.Tensor, networks: int = 0
) -> torch.Tensor:
    """Return f(x).

    Args:
        case: Case of the call.
        x: The input.
        *parameters: Parameters, as in `keras_vaf.ops.pointwise`.
        networks: Number of leading axes of each tensor that index networks.
    """
    x = _dense(x)
    y = torch.empty_like(x)
    _run("vaf_forward", case, networks, x, parameters, out=y)
    return y


def gradients(
    case: Case,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
    networks: int = 0,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter."""
    found = empty_gradients(x, *parameters)
    tensors = dict(zip(_GRADIENTS, found, strict=True))
    tensors["d"] = _dense(upstream)
    _run("vaf_backward", case, networks, _dense(x), parameters, **tensors)
    return found


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """Return the numbers of a tensor in the order of its axes, with their signs."""
    return tensor.resolve_neg().contiguous()


def empty_gradients(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return uninitialized tensors, which `gradients` fills."""
    contiguous = torch.contiguous_format
    return tuple(torch.empty_like(t, memory_format=contiguous) for t in tensors)


def _run(
    name: str,
    case: Case,
    networks: int,
    x: torch.Tensor,
    parameters: tuple[torch.Tensor, ...],
    **tensors: torch.Tensor,
) -> None:
    tensors |= zip(_PARAMETERS, map(_dense, parameters), strict=True)
    tensors["x"] = x
    outer, units, inner = case.sizes(x.shape[networks:])
    call = Call.of(
        {name: (tensor.data_ptr(), tensor.nbytes) for name, tensor in tensors.items()},
        function=case.function,
        type=TYPES[case.dtype],
        slope=case.slope,
        k=case.k,
        networks=x.shape[:networks].numel(),
        outer=outer,
        units=units,
        inner=inner,
    )
    run = getattr(find().library, name)
    check(run(ctypes.byref(call), torch.get_num_threads()))
