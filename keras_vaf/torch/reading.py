"""`parameter_groups` and other functions that read the VAFs of a module."""

from typing import Any

import torch

from keras_vaf.torch.vaf import VAF

_HOSTS = torch.nn.TransformerEncoderLayer | torch.nn.TransformerDecoderLayer


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


def is_followed(module: torch.nn.Module, path: str) -> bool | None:
    """Return whether a layer with weights comes after a part, or `None` if unknown."""
    while path:
        outer, _, name = path.rpartition(".")
        host = module.get_submodule(outer)
        if isinstance(host, _HOSTS):
            return True
        if type(host).forward is not torch.nn.Sequential.forward:
            return None
        parts = host.named_modules(remove_duplicate=False)
        names = [each for each, _ in parts if each and "." not in each]
        later = names[names.index(name) + 1 :]
        if any([*host.get_submodule(each).parameters()] for each in later):
            return True
        path = outer
    return False
