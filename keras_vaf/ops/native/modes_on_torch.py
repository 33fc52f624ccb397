"""Private members of PyTorch that tell how a call runs, each with the reason.

PyTorch has no public counterpart for them. All other modules call these functions.
"""

import torch


@torch.compiler.assume_constant_result  # recompiled in each transformation
def transforming() -> bool:
    """Return whether `torch.func` or forward mode transforms the program.

    Both differentiate the plain formula, but not Python code with its own gradient.
    """
    functions = torch._C._functorch.peek_interpreter_stack() is not None
    return functions or carries_tangents()


def carries_tangents() -> bool:
    """Return whether forward mode is active: custom operators would drop tangents."""
    return torch.autograd.forward_ad._current_level >= 0


def is_batched(tensor: torch.Tensor) -> bool:
    """Return whether `torch.autograd.grad(is_grads_batched=True)` hides an axis."""
    return torch._C._functorch.is_legacy_batchedtensor(tensor)


def in_memory(*tensors: torch.Tensor) -> bool:
    """Return whether tensors are in one memory and no mode records operators.

    Tensors of `torch.func` and of `is_grads_batched=True` do not have memory. A
    dispatch mode (`make_fx`, `FakeTensorMode`) would not see the work of the kernels.
    """
    if torch._C._len_torch_dispatch_stack():
        return False
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    device = tensors[0].device
    for tensor in tensors:  # a loop takes half of the time of `all`
        if (
            type(tensor) not in (torch.Tensor, torch.nn.Parameter)
            or tensor.device != device
            or wrapped(tensor)
            or is_batched(tensor)
        ):
            return False
    return True


def library() -> str:
    """Return the path of PyTorch's library, which knows the OpenMP that it uses."""
    return torch._C.__file__
