"""`simplify`, which removes hidden units of VAFs that contribute little."""

import operator
from typing import Any

import numpy as np

from keras_vaf.initializers.units import carry
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.changes import Draft, KeptError, keep_report
from keras_vaf.models.fitting import set_units
from keras_vaf.models.fixed import label
from keras_vaf.models.formulas.formula import GRID, nearest
from keras_vaf.models.graphs import checks, copies, running
from keras_vaf.models.rebuild import Rebuilding
from keras_vaf.models.vaf_equivalent import built_shape, units_of
from keras_vaf.ops.functions import evaluate
from keras_vaf.utils import check_positive


def simplify(model: Any, tolerance: float, data: Any = None) -> Any:
    """Remove hidden units of VAFs while each function stays within `tolerance`.

    Each step removes the unit whose removal causes the smallest error after the
    remaining units are refitted. Thus units with equal knots are merged.

    Args:
        model: A Sequential or Functional model, or a module of PyTorch, with VAFs.
        tolerance: Largest error of each function on [-10, 10]; with data, its root mean
            square error over the inputs of the layer.
        data: Inputs of the model, as a list or dictionary if it takes several.

    Returns:
        A model with smaller VAFs. Its `report` lists the error of each VAF and the
        known function nearest to it, with data on the inputs of the layer.

    Raises:
        ValueError: If the model has no trainable activation, if a weight or an input of
            an activation is not finite, or if the tolerance is not positive.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras.layers.ReLU(name="act"), keras.layers.Dense(1)])
    >>> vaf = convert(model, k=5)
    >>> print(report(simplify(vaf, tolerance=0.01)))
    act: VAFActivation(k=5) -> VAFActivation(k=1), parameters -12, largest error ...
    1 replaced, 0 kept, parameters -12
    """
    check_positive("tolerance", tolerance)
    modules = checks.functions_on_torch(model)
    if modules is None:
        checks.check_graph(
            model,
            "The VAFs of a model whose class defines `call` cannot be made smaller. "
            "Find a smaller k with `formula(model)`, and build it with VAFs of that k.",
        )
    checks.check_finite_weights(model)
    layers, inputs = running.read(model, data)
    shares = np.linspace(0, 1, 1001)
    values = {id(layers[path]): np.quantile(x, shares) for path, x in inputs.items()}

    def replace(change: Draft) -> None:
        if isinstance(change.old, VAFActivation):
            _make_smaller(change, tolerance, values.get(id(change.old)))
        elif isinstance(change.old, TrainableActivation):
            raise KeptError("it has no hidden units")

    if modules is None:
        work = Rebuilding(model, replace)
        result, changes = work.finish(data), work.drafts
    else:
        result, changes = modules.rebuilt(model, layers, replace)
    keep_report(result, changes)
    copies.compile_like(result, model)
    return result


def _make_smaller(change: Draft, tolerance: float, values: np.ndarray | None) -> None:
    """Replace a VAF by one with the fewest hidden units that all functions allow."""
    layer: VAFActivation = change.old
    g, weights, constants = units_of(layer)  # of relu if g is piecewise linear
    x = GRID if values is None else values
    order = np.inf if values is None else 2.0
    found = []
    functions = np.moveaxis(weights, 0, -2).reshape(-1, 3, weights.shape[-1])
    for (alpha, bias, beta), constant in zip(functions, constants.flat, strict=True):
        hidden = evaluate(g, x[:, None] * alpha + bias)
        if not np.isfinite(hidden).all():
            raise KeptError("a hidden unit is not finite for every input")
        solution = np.append(beta, constant)
        kept, (*beta, constant), error = _reduced(hidden, solution, tolerance, order)
        carriers = [*zip(alpha[kept], bias[kept], beta, strict=True)]
        found.append((carriers, constant, error))
    near = str(nearest(layer, values))  # at the points of `formula` with data
    k = max(len(carriers) for carriers, _, _ in found)
    if k >= layer.k:
        raise KeptError(f"it needs all its hidden units; near {near}")
    config = {"k": k, "g": g, "name": change.name, "initialization": "random"}
    new = VAFActivation.from_config({**layer.get_config(), **config})
    new.build(built_shape(layer))
    set_units(new, [carry(units, constant, k, g, "") for units, constant, _ in found])
    change.new, change.after, change.nearest = new, label(new), near
    error = max(error for _, _, error in found)
    change.error, change.rms = (error, None) if values is None else (None, error)


def _reduced(
    hidden: np.ndarray, solution: np.ndarray, tolerance: float, order: float
) -> tuple[list[int], np.ndarray, float]:
    """Remove units while the error is allowed, starting with the smallest effect.

    The units that stay are returned with beta, beta_bias and the error. The error is a
    power mean of the differences: order 2 is the root mean square, and an infinite
    order the largest one.
    """
    hidden = np.column_stack([hidden, np.ones(len(hidden))])
    target = hidden @ solution
    units, error = [*range(len(solution) - 1)], 0.0
    while len(units) > 1:
        fewer = []
        for gone in units:
            kept = [i for i in units if i != gone]
            design = hidden[:, [*kept, -1]]
            found = np.linalg.lstsq(design, target, rcond=1e-9)[0]
            size = np.linalg.norm(design @ found - target, order)
            fewer.append((float(size / len(target) ** (1 / order)), kept, found))
        best = min(fewer, key=operator.itemgetter(0))
        if best[0] > tolerance:
            break
        error, units, solution = best
    return units, solution, error
