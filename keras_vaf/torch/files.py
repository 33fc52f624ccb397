"""`save_vafs` and `load_vafs`, a file for the VAFs of a module."""

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from keras_vaf.ops.formula_on_torch import FUNCTIONS
from keras_vaf.torch.functions import recognize
from keras_vaf.torch.modules import exchange, parameter_like, vafs_of
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
        ValueError: If the module has no VAF, or its numbers are on the device meta, or
            if a g has no name: use a name that `VAF` has, or a module of `torch.nn`.

    Example:

    >>> import torch
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), keras_vaf.torch.VAF())
    >>> keras_vaf.torch.save_vafs(module, "vafs.safetensors")
    >>> again = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    >>> keras_vaf.torch.load_vafs(again, "vafs.safetensors")
    {'1': 'relu -> VAF'}
    """
    module, entries, weights = _unwrapped(module), dict[Any, dict[str, Any]](), {}
    vafs_of(module)  # raises an error if there are none
    for place, vaf in module.named_modules(remove_duplicate=False):
        if isinstance(vaf, VAF):
            g, weight = _described(vaf.g), _in_memory(vaf.weight, place)
            key = id(weight), vaf.axes, g
            if key not in entries:
                entries[key] = {"paths": [], "k": vaf.k, "axes": vaf.axes, "g": g}
                weights[place] = weight
            entries[key]["paths"].append(place)
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
            the module has something else at a path, or weights on the device meta.
        OSError: If the file cannot be read.
    """
    module, made, found = _unwrapped(module), dict[str, VAF](), dict[str, str]()
    for entry, weight in _read(Path(path)):
        for place in entry["paths"]:
            part, name = _activation(module, place)
            found[place] = f"{name} -> VAF"
            made[place] = made.get(entry["paths"][0]) or _fitting(entry, weight, part)
        like = _in_memory(parameter_like(module, place, weight), place)
        made[place].train(part.training).to(device=like.device, dtype=like.dtype)
    parts = dict(module.named_modules(remove_duplicate=False))
    vafs = {place for place, part in parts.items() if isinstance(part, VAF)}
    if others := sorted(vafs - {*made}):
        raise ValueError(
            "The module must have no VAFs but those of the file. Received: "
            f"{', '.join(others)}, of which {path} has none"
        )
    with torch.no_grad():
        for place in vafs:  # an optimizer may hold their parameters
            parts[place].weight.copy_(made[place].weight)
    exchange(module, {p: vaf for p, vaf in made.items() if p not in vafs})
    return found


def _unwrapped(module: Any) -> torch.nn.Module:
    """Return the module inside of wrappers, if it has parts itself."""
    if hasattr(module, "get_base_model"):  # of PEFT
        return _unwrapped(module.get_base_model())
    name, part = next(module.named_children(), ("", module))
    if name in ("_orig_mod", "module") and [*module.children()] == [part]:
        return _unwrapped(part) if [*part.children()] else module
    return module


def _in_memory(weight: torch.Tensor, place: str) -> torch.Tensor:
    """Return a weight that has numbers."""
    if weight.is_meta:
        raise ValueError(
            "The module must have its weights in memory, so load them first, and "
            f"offload them afterwards. Received: the device meta at {place!r}"
        )
    return weight


def _described(g: Any) -> str:
    """Return the name of a function g, or what a module of PyTorch prints."""
    named = {id(function): name for name, function in FUNCTIONS.items()}
    if isinstance(g, torch.nn.Module) and type(g).__module__.startswith("torch.nn."):
        return repr(g)
    if not isinstance(g, str) and id(g) not in named:
        raise ValueError(
            "A file holds no code, so each g must be a name, such as 'gelu', or a "
            f"module of torch.nn. Received: g={g!r}"
        )
    return g if isinstance(g, str) else named[id(g)]


def _read(path: Path) -> Iterator[tuple[dict[str, Any], torch.Tensor]]:
    """Yield the entry and the weight of each VAF of a file."""
    safetensors = require("safetensors", extra="torch")
    path.read_bytes()  # raises the errors of the machine
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            held = json.loads((file.metadata() or {}).get(_KEY, "{}"))
            tensors = {key: file.get_tensor(key) for key in [*file.keys()]}
    except (safetensors.SafetensorError, ValueError) as error:
        raise ValueError(
            f"{path} is not a complete file of safetensors: write it again by "
            f"`save_vafs`. Received: {error}"
        ) from error
    if held.get("version") != _VERSION:
        raise ValueError(
            f"Expected a file of `save_vafs`, version {_VERSION}; a newer one needs a "
            f"newer keras_vaf. Received: version {held.get('version')} in {path}"
        )
    for entry in held["vafs"]:
        yield entry, tensors[entry["paths"][0]]


def _activation(module: torch.nn.Module, path: str) -> tuple[torch.nn.Module, str]:
    """Return an activation and its name, or raise a `ValueError`."""
    try:
        part = module.get_submodule(path)
    except AttributeError as error:
        raise ValueError(
            "The module must have the class of the one that was saved. "
            f"Received: {type(module).__name__} without a part {path!r}"
        ) from error
    with torch.device("cpu"):
        found = None if isinstance(part, VAF) else recognize(part)
    if not found and not isinstance(part, VAF):
        raise ValueError(
            "A VAF takes the place of an activation. Received: "
            f"{type(part).__name__} at {path!r}"
        )
    return part, found.name if found else "VAF"


def _fitting(entry: dict[str, Any], weight: torch.Tensor, old: Any) -> VAF:
    """Return a VAF with a stored weight, which must fit what is at its path."""
    g, sizes = entry["g"], tuple(weight.shape[:-1])
    expected: Any = (g,)
    own: Any = (repr(old),)
    if isinstance(old, VAF):
        expected = entry["k"], g, tuple(entry["axes"]), sizes
        own = old.k, _described(old.g), old.axes, tuple(old.weight.shape[:-1])
        if not old.weight.is_leaf:
            own = "a parametrization", *own
    if own != expected and (isinstance(old, VAF) or g not in FUNCTIONS):
        raise ValueError(
            f"At {entry['paths'][0]!r}, the file has k, g, axes and sizes or a "
            f"function {expected}. Received: a module with {own}"
        )
    if g not in FUNCTIONS:  # a module with settings, which is there
        g = copy.deepcopy(old.g if isinstance(old, VAF) else old)
    vaf = VAF(entry["k"], g, sizes, entry["axes"], device="cpu")
    vaf.weight = torch.nn.Parameter(weight)
    return vaf
