"""Functions that copy and change modules, and read their VAFs."""

import copy
from typing import Any

import torch

from keras_vaf.torch.vaf import VAF

_Encoder, _Decoder = HOSTS = (
    torch.nn.TransformerEncoderLayer,
    torch.nn.TransformerDecoderLayer,
)


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


def exchange(
    module: torch.nn.Module, old: torch.nn.Module, new: torch.nn.Module
) -> None:
    """Put a new part wherever a module uses an old one, and let all hosts call it."""
    for path, part in [*module.named_modules(remove_duplicate=False)]:
        if part is old:
            host, _, name = path.rpartition(".")
            setattr(module.get_submodule(host), name, new)
    for part in module.modules():
        own = getattr(part, "activation", None)
        if isinstance(part, _Decoder) and isinstance(own, VAF):
            vars(part)["activation"] = own  # copies keep it
        if isinstance(part, _Encoder) and isinstance(own, VAF):
            part.activation_relu_or_gelu = 0  # no fused kernel
        if isinstance(part, torch.nn.TransformerEncoder) and any(
            isinstance(each, VAF) for each in part.modules()
        ):
            part.use_nested_tensor = part.enable_nested_tensor = False


def freeze_vafs(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of a module whose VAFs hold buffers instead of parameters."""
    module = clone(module)
    for part in [each for each in module.modules() if isinstance(each, VAF)]:
        weight = part.weight.detach()
        del part.weight
        part.register_buffer("weight", weight)
    return module


def vafs_of(module: torch.nn.Module) -> dict[str, VAF]:
    """Return the VAFs of a module, which has some, by their paths."""
    found = {p: m for p, m in module.named_modules() if isinstance(m, VAF)}
    if not found:
        raise ValueError(
            "Expected a module with VAFs of keras_vaf.torch. "
            f"Received: {type(module).__name__}"
        )
    return found


def parameter_groups(module: torch.nn.Module, **options: Any) -> list[dict[str, Any]]:
    """Return two groups of parameters for an optimizer of PyTorch.

    The first group has all other parameters, and the second group those of the VAFs.
    The groups go by class. By rank, the weight of a VAF per channel would count as a
    matrix, and optimizers would apply weight decay or Muon to it.

    Args:
        module: A module with VAFs.
        **options: Options of the second group, such as `lr` and `weight_decay`.

    Returns:
        The argument `params` of any optimizer of `torch.optim`.

    Raises:
        ValueError: If the module has no VAF.

    Example:

    >>> import torch
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), keras_vaf.torch.VAF())
    >>> groups = keras_vaf.torch.parameter_groups(module, lr=1e-2, weight_decay=0)
    >>> optimizer = torch.optim.AdamW(groups, lr=1e-3)
    >>> [len(group["params"]) for group in groups]
    [2, 1]
    """
    own = {id(p): p for vaf in vafs_of(module).values() for p in vaf.parameters()}
    others = [p for p in module.parameters() if id(p) not in own]
    return [{"params": others}, {"params": [*own.values()], **options}]
