"""`convert_module`, which converts any `torch.nn.Module`."""

import copy
from typing import Any

import torch

from keras_vaf.layers import VAFActivation
from keras_vaf.models.analysis.layer_selection import Selection
from keras_vaf.models.surgery.changes import KeptError
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
    keep_report,
)
from keras_vaf.models.torch_modules.activations_on_torch import (
    activation_of,
    of_prelu,
)
from keras_vaf.models.torch_modules.code_on_torch import functional_calls


def convert_module(
    module: torch.nn.Module,
    layers: Any,
    to: Any,
    k: int | None,
    g: Any,
    sharing: Any,
    inplace: bool,
) -> torch.nn.Module:
    """Return a module whose activation modules are VAFs that start at them.

    Args:
        module: Any module of PyTorch.
        layers: As for `convert`: names or patterns of paths such as `"layer1.*"`,
            classes, or functions of a module.
        to: `VAFActivation`; no other value is supported.
        k: Number of hidden units of each VAF, or `None` for the default.
        g: Fixed function of the hidden units, or `None` for an exact start.
        sharing: `"layer"`; no other value is supported, because a module of PyTorch
            does not state the shape of its input.
        inplace: Whether to change the module instead of a copy.

    Raises:
        ValueError: If there is nothing to replace, if a name does not match, or if `to`
            or `sharing` is not supported.
    """
    if to is not VAFActivation or sharing != "layer":
        raise ValueError(
            "In a module of PyTorch, `convert` puts VAFs that are shared per layer: "
            "leave out `to` and `sharing`. "
            f"Received: to={to!r}, sharing={sharing!r}"
        )
    module = module if inplace else copy.deepcopy(module)
    parts = dict(module.named_modules())
    chosen = Selection(layers)
    chosen.check([path for path in parts if path], parts)
    arguments: dict[str, Any] = {} if k is None else {"k": k}
    new: dict[int, torch.nn.Module] = {}
    replaced: list[ReplacedActivation] = []
    kept: list[KeptActivation] = []
    for path, part in parts.items():
        try:
            # The keys of `state_dict` contain the name of the layer.
            arguments["name"] = path.replace(".", "_") or "vaf"
            made = _new(part, path, chosen, arguments, g)
        except KeptError as reason:
            kept.append(KeptActivation(path, type(part).__name__, str(reason)))
            continue
        if made is not None:
            new[id(part)], before, error = made
            count = sum(weight.numel() for weight in new[id(part)].parameters())
            line = ReplacedActivation(path, before, "VAFActivation", error, count)
            replaced.append(line)
    named = {line.layer for line in replaced} | {line.layer for line in kept}
    kept += functional_calls(parts, named)
    if not replaced:
        reasons = "; ".join(map(str, kept)) or "no activation module"
        raise ValueError(f"Nothing to replace in the module. Received: {reasons}")
    result = replace_parts(module, new)
    keep_report(result, ConversionReport(tuple(replaced), tuple(kept)))
    return result


def replace_parts(
    module: torch.nn.Module, new: dict[int, torch.nn.Module]
) -> torch.nn.Module:
    """Put new modules in the place of parts of a module, wherever a part is used.

    Args:
        module: The module, which is changed.
        new: The new modules by the `id` of the parts.

    Returns:
        The module, or the new module in its place.
    """
    like = next((p for p in module.parameters() if p.is_floating_point()), None)
    if like is not None:
        for each in new.values():
            each.to(device=like.device, dtype=like.dtype)
    for path, part in [*module.named_modules(remove_duplicate=False)]:
        if path and id(part) in new:
            parent, _, name = path.rpartition(".")
            activation = new[id(part)].train(part.training)
            setattr(module.get_submodule(parent), name, activation)
    return new.get(id(module), module)


def _new(
    child: torch.nn.Module, path: str, chosen: Selection, arguments: Any, g: Any
) -> tuple[torch.nn.Module, str, float] | None:
    """Return a VAF for an activation module, the name and the error; else `None`.

    Raises:
        KeptError: If the module is an activation that is kept.
    """
    if isinstance(child, torch.nn.PReLU):
        if not chosen.takes(child, path):
            raise KeptError("it was not chosen")
        return of_prelu(child, arguments), "PReLU", 0.0
    found = activation_of(child)
    if found is None:
        return None
    if not chosen.takes(child, path):
        raise KeptError("it was not chosen")
    if found.kept and not chosen.names(child, path):
        raise KeptError(found.kept)
    g = found.g if g is None else g
    vaf = VAFActivation(g=g, initialization=found.start, **arguments)
    known = vaf._start.known(vaf.g)
    return vaf, found.name, 0.0 if known is None else known.error(vaf.k, vaf.g).largest
