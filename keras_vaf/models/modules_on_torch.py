"""`convert` and other functions of this package for modules of PyTorch."""

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import torch
from torch.nn import Module

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.activation_inputs import (
    FUNCTIONS,
    by_function,
    check_finite_inputs,
    thinned,
)
from keras_vaf.models.changes import Draft, KeptError, keep_report
from keras_vaf.models.fitting import fit_vafs, warn_of_far
from keras_vaf.ops.functions_on_torch import check_g, of_package
from keras_vaf.torch.conversion import Conversion
from keras_vaf.torch.modules import clone, exchange, freeze_vafs, vafs_of
from keras_vaf.torch.recording import run
from keras_vaf.torch.vaf import VAF
from keras_vaf.utils import check_choice

_MOST_OF_EXACT = 3  # hidden units that an exact start needs at most


def convert(
    to: Any, module: Module, data: Any, k: int, g: Any, *arguments: Any
) -> Module:
    """Return a module with VAFs in the place of its activations (see `Conversion`).

    With `g` and data, exact VAFs are tried first, and then exchanged for fitted ones.
    """
    if to is not VAFActivation:
        raise ValueError(
            "In a module of PyTorch, `convert` puts VAFs: leave out `to`. "
            f"Received: to={to!r}"
        )
    g = None if g is None else check_g(g)
    fits = g is not None and data is not None
    first = (max(k, _MOST_OF_EXACT), None) if fits else (k, g)
    done = Conversion(Draft, module, data, *first, *arguments)
    try:
        if fits:
            _fit(done, k, g)
    except Exception:
        exchange(done.module, {e.layer: e.old for e in done.lines if not e.kept})
        raise
    made = keep_report(done.module, done.lines, done.deviation, *done.notes)
    if not made.replaced:
        reasons = "; ".join(map(str, made.kept)) or "no activation module"
        warnings.warn(f"Nothing was replaced: {reasons}", stacklevel=3)
    return done.module


def _fit(done: Conversion, k: int, g: Any) -> None:
    """Exchange exact VAFs for VAFs with this g that fit the old functions on the data.

    The inputs are those of the exact VAFs, so those of the given module.
    """
    if not (lines := [each for each in done.lines if not each.kept]):
        return
    inputs = activation_inputs(done.module, done.data, sys.maxsize)
    check_finite_inputs(inputs)
    found = {id(vaf): inputs[p] for p, vaf in vafs_of(done.module).items()}
    made: dict[int, VAF] = {}
    for line in lines:
        old = line.new  # of several activations, if they share a weight
        line.new = made.setdefault(id(old), _vaf_like(old, k, g))
        found[id(line.new)] = found[id(old)]
        try:
            fit_vafs([line], found, of_package(g))
        except ValueError as error:
            raise ValueError(f"The activation of {line.layer!r}: {error}") from error
    exchange(done.module, {line.layer: line.new for line in lines})
    now = run(clone(done.module).eval(), done.data)
    gaps = zip(done.seen.outputs if done.seen else (), now, strict=True)
    done.deviation = max(
        (float((a - b).detach().abs().max()) for a, b in gaps if a.numel()), default=0.0
    )
    warn_of_far(lines)


def _vaf_like(old: VAF, k: int, g: Any) -> VAF:
    """Return a VAF with other hidden units for the same axes."""
    with torch.device("cpu"):
        new = VAF(k, g, old.weight.shape[:-1], old.axes)
    return new.train(old.training).to(old.weight)


def freeze(module: Module) -> Module:
    """Return a copy of a module whose VAFs have no parameters."""
    changes = [
        Draft(path, "VAF", "VAF with fixed numbers", 0.0, -count)
        for path, vaf in vafs_of(module).items()
        if (count := sum(weight.numel() for weight in vaf.parameters()))
    ]
    frozen = freeze_vafs(module)
    keep_report(frozen, changes)
    return frozen


def trainable_activations(module: Module) -> dict[str, VAFActivation]:
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


def activation_inputs(
    module: Module, data: Any, functions: int = FUNCTIONS
) -> dict[str, np.ndarray]:
    """Return inputs of each VAF, as `activation_inputs` does for a model of Keras."""
    module = clone(module).eval()
    seen: dict[str, list[np.ndarray]] = {}

    def record(path: str, vaf: VAF, inputs: tuple[torch.Tensor, ...]) -> None:
        values = by_function(inputs[0].float().cpu().numpy(), vaf.axes, functions)
        seen.setdefault(path, []).append(thinned(values))

    for path, vaf in vafs_of(module).items():
        vaf.register_forward_pre_hook(functools.partial(record, path))
    with torch.no_grad():
        run(module, data)
    return {path: np.concatenate(values) for path, values in seen.items()}


def rebuilt(
    module: Module,
    layers: dict[str, VAFActivation],
    replace: Callable[[Draft], None],
) -> tuple[Module, list[Draft]]:
    """Return a copy with other VAFs, given all as layers, and what became of each."""
    module, changes = clone(module), []
    for path, layer in layers.items():
        change = Draft(path, f"VAF(k={layer.k})", old=layer, name=layer.name)
        changes.append(change)
        try:
            replace(change)
        except KeptError as reason:
            change.kept = str(reason)
            continue
        old: Any = module.get_submodule(path)
        new = change.new
        g = "relu" if new.g is keras.activations.relu else old.g
        vaf = _vaf_like(old, new.k, g)
        vaf.set_weights(new.get_weights())
        exchange(module, {path: vaf})
        change.after = f"VAF(k={vaf.k})"
    return module, changes


def train_only_vafs(module: Module, also: Sequence[str], inplace: bool) -> Module:
    """Return a module with the parameters of VAFs and of other parts alone."""
    module = module if inplace else clone(module)
    parts = {path: p for path, p in module.named_modules() if [*p.parameters()]}
    chosen = [parts[check_choice("also", name, parts)] for name in also]
    module.requires_grad_(False)
    for part in (*chosen, *vafs_of(module).values()):
        part.requires_grad_(True)
    return module
