"""`save_vafs` and `load_vafs`, a file for the VAFs of a module."""

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from keras_vaf.ops.functions_on_torch import FUNCTIONS, recognize
from keras_vaf.torch.modules import exchange, in_memory, parameter_like, vafs_of
from keras_vaf.torch.vaf import VAF
from keras_vaf.utils import require, write_atomically

_KEY, _VERSION = "keras_vaf", 1


def save_vafs(module: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Write the VAFs of a module to a file of safetensors.

    The file holds paths, k, g, axes and weights, and no code. `save_pretrained` of
    transformers, the Hub and PEFT do not keep the VAFs of a converted module; this file
    does, in addition to theirs. `torch.compile`, DistributedDataParallel and PEFT,
    which wrap a module, are looked through.

    Args:
        module: A module with VAFs.
        path: Name of the file, such as `"vafs.safetensors"`.

    Raises:
        ValueError: If the module has no VAF, or is offloaded or sharded, or if a g has
            no name: use a name that `VAF` has, or a module of `torch.nn`.

    Example:

    >>> import torch
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), keras_vaf.torch.VAF())
    >>> keras_vaf.torch.save_vafs(module, "vafs.safetensors")
    >>> again = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    >>> keras_vaf.torch.load_vafs(again, "vafs.safetensors")
    {'1': 'relu -> VAF'}
    """
    entries, weights = dict[Any, dict[str, Any]](), dict[str, torch.Tensor]()
    vafs_of(module)  # raises an error if there are none
    for place, vaf in _unwrapped(module).named_modules(remove_duplicate=False):
        if isinstance(vaf, VAF):
            entry, weight = _described(vaf), in_memory(vaf.weight, place)
            entry = entries.setdefault((id(weight), str(entry)), {"paths": []} | entry)
            entry["paths"].append(place)
            weights.setdefault(entry["paths"][0], weight)
    header = {_KEY: json.dumps({"version": _VERSION, "vafs": [*entries.values()]})}
    tensors = {p: w.detach().cpu().contiguous().clone() for p, w in weights.items()}
    safetensors = require("safetensors.torch", extra="torch")
    write_atomically(Path(path), safetensors.save(tensors, header))


def load_vafs(module: torch.nn.Module, path: str | os.PathLike[str]) -> dict[str, str]:
    """Put the VAFs of a file into a module of the same class, in place.

    An activation at the path of a VAF is replaced; a VAF that is there gets the stored
    numbers. The VAFs have dtype and device of the module, which an error leaves as it
    was.

    Args:
        module: The module, converted or not.
        path: A file of `save_vafs`.

    Returns:
        What was replaced or set, by its path.

    Raises:
        ValueError: If the file is not one of `save_vafs`, or of a newer version, or if
            the module has something else at a path, or is offloaded or sharded. Another
            number of channels is an error of the first call.
        OSError: If the file cannot be read.
    """
    module, made, found = _unwrapped(module), dict[str, VAF](), dict[str, str]()
    parts, weights = dict(module.named_modules(remove_duplicate=False)), {}
    for places, entry, weight in _read(Path(path)):
        sizes, axes, g = weight.shape[:-1], entry["axes"], entry["g"]
        for place in places:
            old: Any = parts.get(place, "nothing")
            found[place] = f"{_checked(old, place, entry, weight)} -> VAF"
            like = in_memory(parameter_like(module, place, weight), place)
            vaf, weights[place] = old, weight
            if not isinstance(old, VAF):
                own = g if g in FUNCTIONS else copy.deepcopy(old)
                new = VAF(entry["k"], own, sizes, axes, device="cpu").to(like)
                vaf = made[place] = made.get(places[0]) or new.train(old.training)
            in_memory(vaf.weight, place)  # a context may forbid it
    vafs = {place: part for place, part in parts.items() if isinstance(part, VAF)}
    if others := sorted(vafs.keys() - weights):
        raise ValueError(
            "The module must have no VAFs but those of the file. Received: "
            f"{', '.join(others)}, of which {path} has none"
        )
    with torch.no_grad():
        for place, vaf in {**vafs, **made}.items():  # an optimizer may hold them
            vaf.weight.copy_(weights[place])
    exchange(module, made)
    return found


def _unwrapped(module: Any) -> torch.nn.Module:
    """Return the module inside of wrappers, if it has parts itself."""
    if hasattr(module, "get_base_model"):  # of PEFT
        return _unwrapped(module.get_base_model())
    name, part = next(module.named_children(), ("", module))
    if name in ("_orig_mod", "module") and [*module.children()] == [part]:
        return _unwrapped(part) if [*part.children()] else module
    return module


def _described(vaf: VAF) -> dict[str, Any]:
    """Return the entry of a VAF in a file, besides its paths."""
    g: Any = vaf.g
    if isinstance(g, torch.nn.Module) and type(g).__module__.startswith("torch.nn."):
        g = repr(g)
    if not isinstance(g, str):
        raise ValueError(
            "A file holds no code, so each g must be a name, such as 'gelu', or a "
            f"module of torch.nn. Received: g={g!r}"
        )
    return {"k": vaf.k, "axes": [*vaf.axes], "g": g}


def _read(path: Path) -> Iterator[tuple[list[str], dict[str, Any], torch.Tensor]]:
    """Yield the paths, the entry and the weight of each VAF of a file."""
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            held = json.loads((file.metadata() or {}).get(_KEY, "{}"))
            tensors = {key: file.get_tensor(key) for key in [*file.keys()]}
    except (safetensors.SafetensorError, ValueError) as error:
        held = {"version": f"unknown, {error}"}
    if held.get("version") != _VERSION:
        raise ValueError(
            f"Expected a complete file of `save_vafs`, version {_VERSION}; a newer one "
            f"needs a newer keras_vaf. Received: {path}, version {held.get('version')}"
        )
    for entry in held["vafs"]:
        places = entry.pop("paths")
        yield places, entry, tensors[places[0]]


def _checked(part: Any, place: str, entry: dict[str, Any], weight: torch.Tensor) -> str:
    """Return the name of what is at the path of a VAF, or raise a `ValueError`."""
    name = ""
    if isinstance(part, VAF):
        same = part.weight.is_leaf and part.weight.shape == weight.shape
        name = "VAF" if same and _described(part) == entry else ""
    elif place and isinstance(part, torch.nn.Module):
        with torch.device("cpu"):
            activation = recognize(part)
        if activation and (entry["g"] in FUNCTIONS or entry["g"] == repr(part)):
            name = activation.name
    if not name:
        raise ValueError(
            f"At {place!r}, the file has a VAF with {entry} and a weight of shape "
            f"{tuple(weight.shape)}. The module must have the class of the one that "
            f"was saved, and such a VAF there, or an activation. Received: {part}"
        )
    return name
