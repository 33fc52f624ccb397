"""`fit_to_inputs`, which fits new VAFs to the functions that they replace."""

import itertools
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.start import KnownStart, Values
from keras_vaf.layers.activation_inputs import (
    activation_inputs,
    check_finite_inputs,
    trainable_activations,
)
from keras_vaf.models.changes import Draft
from keras_vaf.ops.functions import Function

_QUANTILES = np.linspace(0, 1, 201)
_FAR = 0.06  # of the standard deviation of a function's values


class Fit(NamedTuple):
    """Start values of one function, and its errors at the inputs of a layer."""

    rms: float
    largest: float
    deviation: float  # standard deviation of the old values
    values: Values


def fit_to(start: KnownStart, k: int, g: Function, x: np.ndarray) -> Fit:
    """Return k hidden units that fit a known function at inputs.

    They are those without inputs if that start is exact, or no worse at the inputs.
    """
    found = [start.units(k, g)]
    if start.fitted(g):
        quantiles = np.quantile(x, _QUANTILES)
        found.append(fit(start, k, g, tuple(quantiles.tolist())))

    def measured(values: Values) -> Fit:
        errors, y = start.differences(values, g, x)
        errors, y = errors[np.isfinite(y)], y[np.isfinite(y)]
        rms = float(np.sqrt(np.mean(errors**2)))
        largest = float(np.max(np.abs(errors)))
        return Fit(rms, largest, float(np.std(y)), values)

    return min(map(measured, found), key=lambda each: each.rms)


def set_units(vaf: Any, units: Sequence[Values]) -> None:
    """Set the weights of a VAF, a layer or module, given the units of each function."""
    weights = (vaf.alpha, vaf.alpha_bias, vaf.beta, vaf.beta_bias)
    pairs = zip(zip(*units, strict=True), weights, strict=True)
    vaf.set_weights([np.reshape(parts, tuple(w.shape)) for parts, w in pairs])


def fit_to_inputs(model: Any, drafts: Sequence[Draft], data: Any) -> None:
    """Fit new VAFs to the functions that they replace, at the inputs of their layers.

    While the inputs are recorded, the layers compute the old functions.
    """
    fitted = [each for each in drafts if each.starts and not each.kept]
    if not fitted:
        return
    instead = {id(new): e.old for e in fitted for new in keras.tree.flatten(e.new)}
    inputs = activation_inputs(model, data, sys.maxsize, instead)
    check_finite_inputs(inputs)
    layers = trainable_activations(model)
    fit_vafs(fitted, {id(layers[path]): x for path, x in inputs.items()})
    warn_of_far(fitted)


def fit_vafs(
    drafts: Sequence[Draft], inputs: dict[int, np.ndarray], g: Function | None = None
) -> None:
    """Fit new VAFs, layers or modules, given by their ids the inputs of each.

    Each function has a column of inputs. It starts at one of the known functions of the
    draft, or all start at the only one. `g` is that of modules.
    """
    for draft in drafts:
        fits: list[Fit] = []
        for vaf in keras.tree.flatten(draft.new):
            columns = inputs[id(vaf)].T if id(vaf) in inputs else ()
            pairs = zip(itertools.cycle(draft.starts), columns, strict=False)
            found = [fit_to(start, vaf.k, g or vaf.g, x) for start, x in pairs]
            if found:
                set_units(vaf, [each.values for each in found])
            fits += found
        if fits:
            draft.rms = max(each.rms for each in fits)
            draft.error = max(each.largest for each in fits)
            draft.relative = draft.rms / max(1e-6, *(each.deviation for each in fits))
        else:
            draft.remark = "the data do not reach it"


def warn_of_far(drafts: Sequence[Draft]) -> None:
    """Warn of new functions that are far from the old ones at their inputs."""
    shares = [(e.relative, e.layer) for e in drafts if e.relative is not None]
    far = [each for each in shares if each[0] > _FAR]
    if far:
        share, layer = max(far)
        warnings.warn(
            f"{len(far)} of {len(shares)} new activations are far from the old ones on "
            "the data: the root mean square error is up to "
            f"{share:.0%} of the standard deviation of the old values, in {layer!r}. "
            "Use a larger `k`.",
            stacklevel=3,
        )
