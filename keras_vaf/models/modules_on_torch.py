"""`convert_module` and other functions of this package for modules of PyTorch."""

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import torch

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.activation_inputs import by_function, thinned
from keras_vaf.models.changes import Change, keep_report
from keras_vaf.models.graph import check_finite_weights
from keras_vaf.torch.conversion import Conversion
from keras_vaf.torch.functions import of_package
from keras_vaf.torch.modules import clone, exchange, freeze_vafs, vafs_of
from keras_vaf.torch.recording import run
from keras_vaf.torch.vaf import VAF
from keras_vaf.utils import check_flag, did_you_mean


def convert_module(to: Any, *arguments: Any) -> torch.nn.Module:
    """Return a module with VAFs in the place of its activations (see `Conversion`)."""
    if to is not VAFActivation:
        raise ValueError(
            "In a module of PyTorch, `convert` puts VAFs: leave out `to`. "
            f"Received: to={to!r}"
        )
    done = Conversion(Change, *arguments)
    made = keep_report(done.module, done.lines, done.deviation, *done.notes)
    if not made.replaced:
        reasons = "; ".join(map(str, made.kept)) or "no activation module"
        warnings.warn(f"Nothing was replaced: {reasons}", stacklevel=3)
    return done.module


def freeze_module(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of a module whose VAFs have no parameters (see `freeze`)."""
    check_finite_weights(module)
    changes = [
        Change(path, "VAF", "VAF with fixed numbers", 0.0, -count)
        for path, vaf in vafs_of(module).items()
        if (count := sum(weight.numel() for weight in vaf.parameters()))
    ]
    frozen = freeze_vafs(module)
    keep_report(frozen, changes)
    return frozen


def layers_of_module(module: torch.nn.Module) -> dict[str, VAFActivation]:
    """Return a Keras layer with the functions of each VAF, by the paths of the VAFs."""
    layers = {}
    for path, vaf in vafs_of(module).items():
        parts = (vaf.alpha, vaf.alpha_bias, vaf.beta, vaf.beta_bias)
        values = [part.detach().double().cpu().numpy() for part in parts]
        sizes = values[3].shape
        sharing = "neuron" if sizes else "layer"
        layer = VAFActivation(vaf.k, _named(vaf.g), sharing, dtype="float32")
        layer.build((None, *sizes) if sizes else (None, 1))
        layer.set_weights(values)
        layers[path] = layer
    return layers


def _named(g: Any) -> Any:
    """Return g as a function with a name, which a Keras layer takes."""
    found: Any = of_package(g)
    if hasattr(found, "__name__"):
        return found

    def function(h: Any) -> Any:
        return found(h)

    function.__name__ = type(found).__name__
    return function


def inputs_of_module(module: torch.nn.Module, data: Any) -> dict[str, np.ndarray]:
    """Return inputs of each VAF, as `activation_inputs` does for a model of Keras."""
    module = clone(module).eval()
    seen: dict[str, list[np.ndarray]] = {}

    def record(path: str, vaf: VAF, inputs: tuple[torch.Tensor, ...]) -> None:
        values = by_function(inputs[0].float().cpu().numpy(), vaf.axes)
        seen.setdefault(path, []).append(thinned(values))

    for path, vaf in vafs_of(module).items():
        vaf.register_forward_pre_hook(functools.partial(record, path))
    with torch.no_grad():
        run(module, data)
    return {path: np.concatenate(values) for path, values in seen.items()}


def exchange_vafs(module: torch.nn.Module, changes: list[Change]) -> torch.nn.Module:
    """Return a copy of a module with the functions of the new layers of changes."""
    module = clone(module)
    for change in changes:
        if (layer := change.new) is None:
            continue
        old: Any = module.get_submodule(change.layer)
        g = "relu" if layer.g is keras.activations.relu else old.g
        vaf = VAF(layer.k, g, old.weight.shape[:-1], old.axes)
        vaf.set_weights(layer.get_weights())
        vaf.train(old.training).to(old.weight.device, old.weight.dtype)
        exchange(module, old, vaf)
    keep_report(module, changes)
    return module


def train_only_vafs(
    module: torch.nn.Module, also: Sequence[str], inplace: bool
) -> torch.nn.Module:
    """Freeze all parameters but those of VAFs (see `train_only_activations`)."""
    vafs_of(module)
    check_flag("inplace", inplace)
    module = module if inplace else clone(module)
    paths = [path for path, part in module.named_modules() if [*part.parameters()]]
    module.requires_grad_(False)
    for name in (also,) if isinstance(also, str) else also:
        if name not in paths:
            raise ValueError(
                "`also` must have paths of modules with parameters."
                f"{did_you_mean(name, paths)} Received: {name!r}"
            )
        module.get_submodule(name).requires_grad_(True)
    for vaf in vafs_of(module).values():
        vaf.requires_grad_(True)
    return module
