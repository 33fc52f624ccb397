"""How PyTorch runs a call, which it has no public members for."""

import torch

Tensor = torch.Tensor
LIBRARY = torch._C.__file__  # the file of the compiled part of PyTorch


def in_memory(*tensors: Tensor) -> bool:
    """Return whether tensors are in one memory, and no mode records operators.

    Tensors of `torch.func` and of `is_grads_batched=True` have no memory. A dispatch
    mode (`make_fx`) would not see the kernels, and forward mode needs the formula.
    """
    if torch._C._len_torch_dispatch_stack() or transformed():
        return False
    private = torch._C._functorch
    device = tensors[0].device
    for tensor in tensors:  # a loop takes half of the time of `all`
        if (
            type(tensor) not in (torch.Tensor, torch.nn.Parameter)
            or tensor.device != device
            or private.is_functorch_wrapped_tensor(tensor)
            or private.is_legacy_batchedtensor(tensor)
        ):
            return False
    return True


@torch.compiler.assume_constant_result  # recompiled in each transformation
def transformed() -> bool:
    """Return whether `torch.func` or forward mode transforms the program."""
    functions = torch._C._functorch.peek_interpreter_stack() is not None
    return functions or torch.autograd.forward_ad._current_level >= 0
