"""Modes and memory of PyTorch, in part by members that are not public."""

import functools
import math
from typing import Any

import torch

Tensor = torch.Tensor
LIBRARY = torch._C.__file__  # the file of the compiled part of PyTorch
Axes = tuple[int, ...]
_PLAIN = {torch.Tensor, torch.nn.Parameter}


def in_memory(*tensors: Tensor) -> bool:
    """Return whether tensors are in one memory, and no mode records operators.

    Tensors of `torch.func` and of `is_grads_batched=True` have no memory. A dispatch
    mode (`make_fx`) would not see the kernels, and forward mode needs the formula.
    """
    if torch._C._len_torch_dispatch_stack() or transformed():
        return False
    device, private = tensors[0].device, torch._C._functorch
    wrapped, batched = (
        private.is_functorch_wrapped_tensor,
        private.is_legacy_batchedtensor,
    )
    for tensor in tensors:  # a loop takes half of the time of `all`
        if (
            type(tensor) not in _PLAIN
            or tensor.device != device
            or wrapped(tensor)
            or batched(tensor)
        ):
            return False
    return True


@torch.compiler.assume_constant_result  # recompiled in each transformation
def transformed() -> bool:
    """Return whether `torch.func` or forward mode transforms the program."""
    functions = torch._C._functorch.peek_interpreter_stack() is not None
    return functions or torch.autograd.forward_ad._current_level >= 0


def dense(x: Tensor, axes: Axes, cached: bool = True) -> tuple[Tensor, Any]:
    """Return x without gaps in memory, and what `sizes_in_memory` returns for it.

    With symbolic sizes, nothing is cached.
    """
    find: Any = sizes_in_memory if cached else sizes_in_memory.__wrapped__
    sizes = None if x.is_neg() else find(x.shape, x.stride(), axes)
    if sizes is None:
        x = x.resolve_neg().contiguous()
        sizes = find(x.shape, x.stride(), axes)
    return x, sizes


def like(x: Tensor, tensor: Tensor) -> Tensor:
    """Return a tensor in the order of memory that x has."""
    if tensor.stride() == x.stride() and not tensor.is_neg():
        return tensor
    return torch.empty_like(x).copy_(tensor)


@functools.lru_cache(maxsize=4096)
def sizes_in_memory(
    shape: Axes, strides: Axes, axes: Axes
) -> tuple[int, int, int] | None:
    """Return the numbers of elements before, along and behind axes, in memory.

    `None` means that the memory has gaps, or other axes between these.
    """
    order = [axis for axis in range(len(shape)) if shape[axis] != 1]
    order.sort(key=lambda axis: strides[axis], reverse=True)
    sizes = [shape[axis] for axis in order]
    without_gaps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    places = [order.index(axis) for axis in axes if shape[axis] != 1]
    first = places[0] if places else 0
    end = first + len(places)
    if [strides[i] for i in order] != without_gaps or places != [*range(first, end)]:
        return None
    return math.prod(sizes[:first]), math.prod(sizes[first:end]), math.prod(sizes[end:])
