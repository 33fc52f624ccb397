"""`simplify`, which removes hidden units of VAFs that contribute little."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.initializers.units import spare_units
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.activation_inputs import (
    activation_inputs,
    trainable_activations,
)
from keras_vaf.models.changes import Change, KeptError, keep_report
from keras_vaf.models.copies import compile_like
from keras_vaf.models.fixed import label
from keras_vaf.models.formulas.nearest import nearest
from keras_vaf.models.graph import check_finite_weights, check_graph, is_torch_module
from keras_vaf.models.rebuild import Place, rebuild
from keras_vaf.models.vaf_equivalent import built_shape, to_vaf, weights_of
from keras_vaf.ops.functions import Function, evaluate
from keras_vaf.utils import check_positive

_GRID = np.linspace(-5, 5, 501)
_USUAL = slice(10, -10)  # the quantiles without the lowest and the highest 1 %


def simplify(model: Any, tolerance: float, data: Any = None) -> Any:
    """Remove hidden units of VAFs while each function stays within `tolerance`.

    Units are removed one by one. Each step removes the unit whose removal causes the
    smallest error after the remaining units are refitted. Units with equal knots are
    merged, and units that contribute less than the tolerance are removed.

    Args:
        model: A Sequential or Functional model with VAFs, or a converted module of
            PyTorch.
        tolerance: Allowed error of each function. Without data, this is the largest
            error on [-5, 5]. With data, it is the root mean square error over the
            inputs of the layer.
        data: Inputs of the model, as a list or dictionary if it takes several.

    Returns:
        A model with smaller VAFs. `keras_vaf.models.report` lists the error of each VAF
        and the known function nearest to it: on [-10, 10], or with data, on the inputs
        of the layer without the lowest and the highest 1 %.

    Raises:
        ValueError: If the model has no trainable activation, if a weight or an input of
            an activation is not finite, or if the tolerance is not a positive number.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras.layers.ReLU(name="act"), keras.layers.Dense(1)])
    >>> vaf = convert(model, k=5)
    >>> print(report(simplify(vaf, tolerance=0.01)))
    act: VAFActivation(k=5) -> VAFActivation(k=1), parameters -12, largest error ...
    1 replaced, 0 kept, parameters -12
    """
    check_positive("tolerance", tolerance)
    if is_torch_module(model):
        return _smaller_module(model, tolerance, data)
    check_graph(model, "A model whose class defines `call` cannot be simplified.")
    trainable_activations(model)
    check_finite_weights(model)
    values = {} if data is None else _quantiles(model, data)

    def replace(place: Place) -> Change | None:
        layer = place.activation
        if not isinstance(layer, TrainableActivation):
            return None
        if not isinstance(layer, VAFActivation):
            raise KeptError("it has no hidden units")
        x = values.get(id(layer))
        new, error = _smaller(layer, tolerance, x, place.name)
        near = str(nearest(layer, None if x is None else x[_USUAL]))
        if new is None:
            raise KeptError(f"it needs all its hidden units; near {near}")
        change = Change(place.path, label(layer), label(new), error, new=new)
        change.nearest = near
        return change

    result, changes = rebuild(model, replace)
    keep_report(result, changes)
    compile_like(result, model)
    return result


def _quantiles(model: keras.Model, data: Any) -> dict[int, np.ndarray]:
    """Return 1001 quantiles of the inputs of each activation, by the layer's id."""
    layers = trainable_activations(model)
    inputs = activation_inputs(model, data)
    return {id(layers[path]): _spread(path, x) for path, x in inputs.items()}


def _spread(path: str, values: np.ndarray) -> np.ndarray:
    """Return 1001 quantiles of the inputs of an activation."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The inputs of an activation must be finite: check `data`. Received: "
            f"NaN or infinite inputs of {path}"
        )
    return np.quantile(values.astype("float64"), np.linspace(0, 1, 1001))


def _smaller_module(module: Any, tolerance: float, data: Any) -> Any:
    """Return a copy of a module of PyTorch with smaller VAFs."""
    from keras_vaf.models import modules_on_torch as modules

    layers = modules.layers_of_module(module)
    inputs = {} if data is None else modules.inputs_of_module(module, data)
    new, replaced, kept = {}, [], []
    for path, layer in layers.items():
        if not all(np.isfinite(each).all() for each in layer.get_weights()):
            raise ValueError(f"The numbers of {path} must be finite. Received: NaN")
        x = _spread(path, inputs[path]) if path in inputs else None
        before = f"VAF(k={layer.k})"
        fewer = _fewer_units(layer, tolerance, x)
        known = str(nearest(layer, None if x is None else x[_USUAL]))
        if fewer is None:
            reason = f"it needs all its hidden units; near {known}"
            kept.append(Change(path, before, kept=reason))
            continue
        new[path] = fewer
        less = -3 * (layer.k - fewer.k) * fewer.weights[3].size
        after = f"VAF(k={fewer.k})"
        line = Change(path, before, after, fewer.error, less, known)
        replaced.append(line)
    return modules.exchange_vafs(module, new, [*replaced, *kept])


class _Units(NamedTuple):
    """The remaining hidden units of a function, and the error of their sum."""

    kept: list[int]
    beta: np.ndarray
    beta_bias: float
    error: float


class FewerUnits(NamedTuple):
    """A VAF with fewer hidden units: g, k, its four weights, and its error."""

    g: Function
    k: int
    weights: tuple[np.ndarray, ...]
    error: float


def _smaller(
    layer: VAFActivation, tolerance: float, values: np.ndarray | None, name: str
) -> tuple[VAFActivation | None, float]:
    """Return a layer with the fewest hidden units that all its functions allow."""
    fewer = _fewer_units(layer, tolerance, values)
    if fewer is None:
        return None, 0.0
    changes = {"k": fewer.k, "g": fewer.g, "name": name, "initialization": "random"}
    new = VAFActivation.from_config({**layer.get_config(), **changes})
    new.build(built_shape(layer))
    new.set_weights(fewer.weights)
    return new, fewer.error


def _fewer_units(
    layer: VAFActivation, tolerance: float, values: np.ndarray | None
) -> FewerUnits | None:
    """Return the fewest hidden units that all functions of a layer allow."""
    vaf = to_vaf(layer)  # checks the weights, and uses relu if g is piecewise linear
    weights = weights_of(vaf)
    alpha, alpha_bias, beta = (weight.reshape(-1, vaf.k) for weight in weights[:3])
    x, measure = (_GRID, _largest) if values is None else (values, _mean)
    found = []
    for i, beta_bias in enumerate(weights[3].ravel()):
        hidden = evaluate(vaf.g, x[:, None] * alpha[i] + alpha_bias[i])
        if not np.isfinite(hidden).all():
            raise KeptError("a hidden unit is not finite for every input")
        found.append(_reduce(hidden, beta[i], beta_bias, tolerance, measure))
    k = max(len(units.kept) for units in found)
    if k >= layer.k:
        return None
    rows = [
        _filled(alpha[i], alpha_bias[i], units, k, vaf.g)
        for i, units in enumerate(found)
    ]
    stacked = np.stack(rows, axis=1).reshape(3, *weights[3].shape, k)
    constant = np.reshape([units.beta_bias for units in found], weights[3].shape)
    error = max(units.error for units in found)
    return FewerUnits(vaf.g, k, (*stacked, constant), error)


def _reduce(
    hidden: np.ndarray,
    beta: np.ndarray,
    beta_bias: float,
    tolerance: float,
    measure: Callable[[np.ndarray], float],
) -> _Units:
    """Remove units while the error is allowed, starting with the smallest effect."""
    target = hidden @ beta + beta_bias
    units = _Units(list(range(len(beta))), beta, beta_bias, 0.0)
    while len(units.kept) > 1:
        fewer = [
            _refit(hidden, target, [i for i in units.kept if i != gone], measure)
            for gone in units.kept
        ]
        best = min(fewer, key=lambda each: each.error)
        if best.error > tolerance:
            break
        units = best
    return units


def _refit(
    hidden: np.ndarray,
    target: np.ndarray,
    kept: list[int],
    measure: Callable[[np.ndarray], float],
) -> _Units:
    design = np.column_stack([hidden[:, kept], np.ones(len(hidden))])
    solution = np.linalg.lstsq(design, target, rcond=1e-9)[0]
    error = measure(design @ solution - target)
    return _Units(kept, solution[:-1], float(solution[-1]), error)


def _filled(
    alpha: np.ndarray, alpha_bias: np.ndarray, units: _Units, k: int, g: Function
) -> np.ndarray:
    """Return alpha, alpha_bias and beta of k units: kept units, then spare units."""
    kept = [alpha[units.kept], alpha_bias[units.kept], units.beta]
    spares = spare_units(k - len(units.kept), g, *kept[:2])
    return np.concatenate([kept, spares], axis=1)


def _largest(difference: np.ndarray) -> float:
    return float(np.max(np.abs(difference)))


def _mean(difference: np.ndarray) -> float:
    return float(np.sqrt(np.mean(difference**2)))
