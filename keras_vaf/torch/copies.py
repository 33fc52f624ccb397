"""`clone`, `settle`, `exchange` and `freeze_vafs`, which copy and change modules."""

import copy

import torch

from keras_vaf.torch.vaf import VAF

_Decoder = torch.nn.TransformerDecoderLayer


def clone(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of a module, with the activations of decoder layers."""
    try:
        new = copy.deepcopy(module)
    except Exception as error:  # the code of modules may raise anything
        raise ValueError(
            "The module cannot be copied. It may hold a tensor of its last call: "
            f"convert it before it is called. Received: {type(module).__name__} "
            f"({error})"
        ) from error
    for before, after in zip(module.modules(), new.modules(), strict=True):
        if isinstance(before, _Decoder) and "activation" not in vars(before):
            vars(after).pop("activation")  # `__setstate__` hides the module behind it
    return new


def settle(module: torch.nn.Module) -> None:
    """Let the hosts of PyTorch call their VAFs instead of fused kernels."""
    for part in module.modules():
        own = getattr(part, "activation", None)
        if isinstance(part, _Decoder) and isinstance(own, VAF):
            vars(part)["activation"] = own  # copies keep it
        if isinstance(part, torch.nn.TransformerEncoderLayer) and isinstance(own, VAF):
            part.activation_relu_or_gelu = 0
        if isinstance(part, torch.nn.TransformerEncoder) and any(
            isinstance(each, VAF) for each in part.modules()
        ):
            part.use_nested_tensor = part.enable_nested_tensor = False


def exchange(
    module: torch.nn.Module, old: torch.nn.Module, new: torch.nn.Module
) -> None:
    """Put a new part wherever a module uses an old one."""
    for path, part in [*module.named_modules(remove_duplicate=False)]:
        if part is old:
            host, _, name = path.rpartition(".")
            setattr(module.get_submodule(host), name, new)
    settle(module)


def freeze_vafs(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of a module whose VAFs hold buffers instead of parameters."""
    module = clone(module)
    for part in [each for each in module.modules() if isinstance(each, VAF)]:
        weight = part.weight.detach()
        del part.weight
        part.register_buffer("weight", weight)
    return module
