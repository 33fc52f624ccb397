"""The native kernels on PyTorch, on tensors in main memory or on a GPU."""

import ctypes
import functools
import math
import struct

import torch

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import gpus_on_torch, library, modes_on_torch
from keras_vaf.ops.native.case import TYPES, Case, case_of
from keras_vaf.ops.native.library import ARRAYS, Call, check, find
from keras_vaf.ops.switches import kernels_are_off

DTYPES = {getattr(torch, name): name for name in TYPES}
_ARRAYS = struct.Struct(f"={2 * len(ARRAYS)}q")  # addresses, then bytes


def _use_threads_of_torch() -> None:
    """Run the kernels on PyTorch's threads, which wait actively for work.

    Other packages may load a second OpenMP. The name is therefore looked up in
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
    if x.device.type not in ("cpu", "cuda") or kernels_are_off():
        return None
    tensors = (x, *parameters)
    dtypes = tuple([t.dtype for t in tensors])
    shapes = tuple([t.shape for t in tensors])
    if torch.compiler.is_compiling():  # it does not know `lru_cache`
        if x.is_cuda:  # it makes such kernels itself
            return None
        return _case(library.find().functions, function, layout, dtypes, shapes)
    functions = (
        gpus_on_torch.functions(x.device) if x.is_cuda else library.find().functions
    )
    return _known_case(functions, function, layout, dtypes, shapes)


def _case(
    functions: tuple[str, ...],
    function: Pointwise,
    layout: Layout,
    dtypes: tuple[torch.dtype, ...],
    shapes: tuple[torch.Size, ...],
) -> Case | None:
    names = [DTYPES.get(dtype, "") for dtype in dtypes]
    return case_of(function, layout, names, shapes, functions)


_known_case = functools.lru_cache(maxsize=1024)(_case)


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
    if x.is_cuda:
        return gpus_on_torch.kernels().forward(case, x, *map(_dense, parameters))
    y = torch.empty_like(x)
    no_gradients = (None,) * len(parameters)
    arrays = (None, y, *map(_dense, parameters), *no_gradients)
    _run("vaf_forward", case, networks, x, *arrays)
    return y


def gradients(
    case: Case,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
    networks: int = 0,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter."""
    if x.is_cuda:
        return gpus_on_torch.kernels().gradients(
            case, *map(_dense, (upstream, x, *parameters))
        )
    found = empty_gradients(x, *parameters)
    arrays = (_dense(upstream), found[0], *map(_dense, parameters), *found[1:])
    _run("vaf_backward", case, networks, _dense(x), *arrays)
    return found


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """Return the numbers of a tensor in the order of its axes, with their signs."""
    if tensor.is_contiguous() and not tensor.is_neg():
        return tensor
    return tensor.resolve_neg().contiguous()


def empty_gradients(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return uninitialized tensors, which `gradients` fills."""
    contiguous = torch.contiguous_format
    return tuple(torch.empty_like(t, memory_format=contiguous) for t in tensors)


@functools.lru_cache(maxsize=1024)
def _settings(case: Case, shape: torch.Size, networks: int) -> bytes:
    """Return the members of a call before its arrays."""
    outer, units, inner = case.sizes(shape[networks:])
    call = Call(
        function=case.function,
        type=TYPES[case.dtype],
        slope=case.slope,
        k=case.k,
        networks=math.prod(shape[:networks]),
        outer=outer,
        units=units,
        inner=inner,
    )
    return bytes(call)[: -_ARRAYS.size]


def _run(
    name: str,
    case: Case,
    networks: int,
    x: torch.Tensor,
    *others: torch.Tensor | None,
) -> None:
    """Call a function of the library.

    Args:
        name: Name of the function.
        case: Case of the call.
        networks: As in `forward`.
        x: The input.
        *others: The other tensors, in the order of `ARRAYS`.
    """
    tensors = (x, *others)
    addresses = [0 if tensor is None else tensor.data_ptr() for tensor in tensors]
    sizes = [0 if tensor is None else tensor.nbytes for tensor in tensors]
    arrays = _ARRAYS.pack(*addresses, *sizes)
    call = Call.from_buffer_copy(_settings(case, x.shape, networks) + arrays)
    run = getattr(find().library, name)
    check(run(ctypes.byref(call), torch.get_num_threads()))
