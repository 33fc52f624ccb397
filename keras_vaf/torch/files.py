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
    does, in addition to theirs. Wrappers such as `torch.compile` are looked through.

    Args:
        module: A module with VAFs.
        path: Name of the file, such as `"vafs.safetensors"`.

    Raises:
        ValueError: If the module has no VAF, or if a g has no name: register it as one
            of the names of `VAF`, or use a module of `torch.nn`.

    Example:

    >>> import torch
    >>> module = torch.nn.Sequential(torch.nn.Linear(4, 8), keras_vaf.torch.VAF())
    >>> keras_vaf.torch.save_vafs(module, "vafs.safetensors")
    >>> again = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    >>> keras_vaf.torch.load_vafs(again, "vafs.safetensors")
    {'1': 'relu -> VAF'}
    """
    module, entries, tensors = _unwrapped(module), [], {}
    for first, vaf in vafs_of(module).items():
        every = module.named_modules(remove_duplicate=False)
        paths = [name for name, part in every if part is vaf]
        entry = {"paths": paths, "k": vaf.k, "axes": vaf.axes, "g": _described(vaf.g)}
        entries.append(entry)
        tensors[first] = vaf.weight.detach().cpu().contiguous()
    header = {_KEY: json.dumps({"version": _VERSION, "vafs": entries})}
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
            the module has something else at a path.
        OSError: If the file cannot be read.
    """
    module, made, found = _unwrapped(module), dict[str, VAF](), dict[str, str]()
    for entry, weight in _read(Path(path)):
        for place in entry["paths"]:
            try:
                part = module.get_submodule(place)
            except AttributeError as error:
                raise ValueError(
                    "The module must have the class of the one that was saved. "
                    f"Received: {type(module).__name__} without a part {place!r}"
                ) from error
            name = "VAF" if isinstance(part, VAF) else _checked(part, place)
            found[place] = f"{name} -> VAF"
            made[place] = made.get(entry["paths"][0]) or _fitting(entry, weight, part)
        like = parameter_like(module, place, weight)
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


def _unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """Return the module inside of wrappers that have it as their only part."""
    while [name for name, _ in module.named_children()] in (["_orig_mod"], ["module"]):
        [module] = module.children()
    return module


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


def _checked(part: torch.nn.Module, path: str) -> str:
    """Return the name of an activation, or raise a `ValueError` for another part."""
    if found := recognize(part):
        return found.name
    raise ValueError(
        f"A VAF takes the place of an activation. Received: {type(part).__name__} at "
        f"{path!r}"
    )


def _fitting(entry: dict[str, Any], weight: torch.Tensor, old: Any) -> VAF:
    """Return a VAF with a stored weight, which must fit what is at its path."""
    g, sizes = entry["g"], tuple(weight.shape[:-1])
    expected: Any = (g,)
    own: Any = (repr(old),)
    if isinstance(old, VAF):
        expected = entry["k"], g, tuple(entry["axes"]), sizes
        own = old.k, _described(old.g), old.axes, tuple(old.weight.shape[:-1])
    if own != expected and (isinstance(old, VAF) or g not in FUNCTIONS):
        raise ValueError(
            f"At {entry['paths'][0]!r}, the file has k, g, axes and sizes or a "
            f"function {expected}. Received: a module with {own}"
        )
    if g not in FUNCTIONS:  # a module with settings, which is there
        g = copy.deepcopy(old.g if isinstance(old, VAF) else old)
    vaf = VAF(entry["k"], g, sizes, entry["axes"])
    vaf.weight = torch.nn.Parameter(weight)
    return vaf
