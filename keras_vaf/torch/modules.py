"""Functions that copy and change modules, and read their VAFs."""

import copy
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import torch

from keras_vaf.torch.vaf import VAF

_Decoder = torch.nn.TransformerDecoderLayer
HOSTS = torch.nn.TransformerEncoderLayer, _Decoder
_NO_HOLDERS = torch.Tensor, torch.nn.Module, type, ModuleType, str, int, float


def held_by(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what nested containers and plain objects hold, each with holder and key."""
    left, seen = [value], dict[int, Any]()
    for held in left:  # `left` gets longer
        if id(held) in seen or isinstance(held, _NO_HOLDERS):
            continue
        seen[id(held)] = held
        if not isinstance(held, Mapping | list | tuple | set):
            held = getattr(held, "__dict__", {})
        pairs = held.items() if isinstance(held, Mapping) else enumerate(held)
        for key, each in [*pairs]:
            left.append(each)
            yield held, key, each


def tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested containers and plain objects."""
    return [t for _, _, t in held_by([value]) if isinstance(t, torch.Tensor)]


def clone(module: torch.nn.Module, shared: bool = False) -> torch.nn.Module:
    """Return a copy of a module, with the activations of decoder layers.

    A lock, and what else cannot be copied, is an error, or `shared` with the copy.
    """
    try:
        new = copy.deepcopy(module)
    except Exception as error:  # the code of modules may raise anything
        odd = _not_copied(module)
        if not shared:
            raise ValueError(
                f"The module cannot be copied because of {', '.join(odd)}: {error}. "
                "Convert it before it is called, if this is a tensor of its last call, "
                "or call `convert` with `inplace=True`, which copies no such part. "
                f"Received: {type(module).__name__}"
            ) from error
        new = copy.deepcopy(module, {id(each): each for each in odd.values()})
    for before, after in zip(module.modules(), new.modules(), strict=True):
        if isinstance(before, _Decoder) and "activation" not in vars(before):
            vars(after).pop("activation")  # `__setstate__` hides the module behind it
    return new


def _not_copied(module: torch.nn.Module) -> dict[str, Any]:
    """Return what the modules hold and cannot be copied, by its paths."""
    found, known = dict[str, Any](), {id(part): part for part in module.modules()}
    for path, part in module.named_modules():
        for name, each in (*part.named_buffers(recurse=False), *vars(part).items()):
            try:
                copy.deepcopy(each, {**known})
            except Exception:  # as above
                found[f"{path}.{name}".lstrip(".")] = known[id(each)] = each
    return found


def exchange(module: torch.nn.Module, new: Mapping[str, torch.nn.Module]) -> None:
    """Put new parts at paths, and wherever else the module holds what is there.

    Lists, tuples, dictionaries and other objects of a module may hold it, too.
    """
    parts = {id(module.get_submodule(path)): part for path, part in new.items()}

    def exchanged(held: Any) -> Any:
        if type(held) is not tuple:
            return parts.get(id(held), held)
        new = tuple(map(exchanged, held))
        return new if [*map(id, new)] != [*map(id, held)] else held

    for holder, key, held in held_by([vars(part) for part in module.modules()]):
        if isinstance(holder, dict | list) and (other := exchanged(held)) is not held:
            holder[key] = other
    for part in module.modules():
        if isinstance(part, HOSTS) and isinstance(part.activation, VAF):
            vars(part)["activation"] = part.activation  # copies of decoders keep it
            part.activation_relu_or_gelu = 0  # no fused kernel
        if isinstance(part, torch.nn.TransformerEncoder) and any(
            isinstance(each, VAF) for each in part.modules()
        ):
            part.use_nested_tensor = False


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


def hosts_of(module: torch.nn.Module, path: str) -> dict[str, torch.nn.Module]:
    """Return the hosts of a part, from the nearest to the whole, by their paths."""
    names = path.split(".")[:-1]
    paths = [".".join(names[:i]) for i in range(len(names), -1, -1)]
    return {path: module.get_submodule(path) for path in paths}


def parameter_like(
    module: torch.nn.Module, path: str, default: torch.Tensor
) -> torch.Tensor:
    """Return a parameter of the nearest host that has one of a floating-point type."""
    each = (p for host in hosts_of(module, path).values() for p in host.parameters())
    return next((p for p in each if p.is_floating_point()), default)


def in_memory(weight: torch.Tensor, place: str) -> torch.Tensor:
    """Return a weight that has all its numbers here."""
    if weight.is_meta or hasattr(weight, "full_tensor"):  # of a sharded weight
        raise ValueError(
            "The module must have its weights in memory: offload or shard it later, "
            f"and leave `init_empty_weights`. Received: no numbers near {place!r}"
        )
    return weight


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
