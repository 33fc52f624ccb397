"""`to_relu`, which turns a trained network into one with ReLU alone."""

import contextlib
import functools
from collections import Counter
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.start import INSIDE, KnownStart, Values
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.models.changes import Draft, KeptError, NoExactStartError, keep_report
from keras_vaf.models.fitting import fit_to_inputs, set_units
from keras_vaf.models.fixed import fixed
from keras_vaf.models.freezing import of_keras_alone
from keras_vaf.models.graphs import checks, running
from keras_vaf.models.graphs.reasons import GATE, OUTPUT, reasons_to_keep
from keras_vaf.models.graphs.widening import widened
from keras_vaf.models.maker import Maker
from keras_vaf.models.rebuild import Rebuilding
from keras_vaf.models.vaf_equivalent import built_shape, to_vaf, units_of
from keras_vaf.ops.functions import Function, evaluate
from keras_vaf.utils import check_flag, check_integer

_RELU = keras.activations.relu
_ADVICE = {
    OUTPUT: "compute it behind the network, on the outputs of the layer before",
    GATE: "a product has no form with ReLU",
}
_INSIDE = "a layer computes it inside: write that layer as several layers of Keras"
_RECURRENT = "a recurrent layer computes it inside, and its gates: replace that layer"


def to_relu(
    model: keras.Model, k: int = 5, data: Any = None, widen: bool = False
) -> keras.Model:
    """Turn a trained network into one of plain Keras layers with ReLU alone.

    Nothing is trained, and no labels are needed. Devices, solvers and verifiers that
    take ReLU alone can take the result. Each activation becomes a sum of k units, as in
    `freeze(convert(model, g="relu", k=k, data=data))`. Trainable activations of this
    package are replaced as well.

    Formula of `widen`, for an activation between two Dense or Conv layers:

    ```
    V f(W x + b) = sum_j (beta_j V) relu(alpha_j W x + alpha_j b + alpha_bias_j) + c
    ```

    Args:
        model: A Sequential or Functional model with weights. For a module of PyTorch,
            use `convert(module, g="relu", k=5, data=data)`.
        k: Number of ReLU units of each function. More are more accurate.
        data: Inputs of the model, such as 256 rows. Functions are fitted to the inputs
            of their layers, and outputs are compared on them.
        widen: Whether the units become units of the layers around an activation, so
            that `Dense(n)`, activation, `Dense(m)` is `Dense(k n, "relu")`, `Dense(m)`.
            Between the two may be pooling by averages, flattening and batch
            normalization, which becomes a part of other layers. Dropout is left out. A
            layer between two such activations has k * k times the multiplications.

    Returns:
        A model that is not compiled. Its `report` lists the activations, those that are
        left with the reason and what to do, the layers that are left, and the largest
        difference from the outputs of the given model.

    Raises:
        ValueError: If the model is not a built Sequential or Functional model, if it
            has no other activation than ReLU, if k is too small for a function, or if
            `data` are not finite inputs of the model.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)),
    ...     keras.layers.Dense(8, activation="silu"), keras.layers.Dense(2)])
    >>> relu = to_relu(model, k=3, widen=True)
    >>> [(type(layer).__name__, layer.units) for layer in relu.layers]
    [('Dense', 24), ('Dense', 2)]
    """
    check_integer("k", k)
    check_flag("widen", widen)
    if checks.functions_on_torch(model):
        raise ValueError(
            "`to_relu` takes a model of Keras. For a module of PyTorch, use "
            f"`convert(module, g='relu', k={k}, data=...)`. Received: {type(model)}"
        )
    checks.check_model(model, "Write a model whose class defines `call` as a graph.")
    expected = running.outputs_of(model, data)
    work = Rebuilding(model, _Replacement(model, k))
    result, changes = work.finish(data), work.drafts
    if all(change.kept for change in changes):
        raise ValueError(
            f"The model {model.name!r} has no activation to replace by ReLU. Received: "
            f"a model with {'; '.join(map(str, changes)) or 'no other activation'}"
        )
    if data is not None:
        fit_to_inputs(result, changes, data)
    if widen:
        result = widened(result, changes)
    result, _ = of_keras_alone(result)
    deviation = running.largest_gap(result, data, expected)
    keep_report(result, changes, deviation, f"Layers: {_kinds(result)}")
    return result


def _kinds(model: keras.Model) -> str:
    """Return the number of layers of each class, without models around them."""
    every = [each for each in all_layers(model) if not checks.is_graph(each)]
    kinds = Counter(type(each).__name__ for each in every)
    del kinds["InputLayer"]
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


class _Replacement:
    """The VAF with g = relu for each activation of a model."""

    def __init__(self, model: keras.Model, k: int) -> None:
        self._k, self._reasons = k, reasons_to_keep(model)
        self._maker = Maker(model, VAFActivation, k, "relu")

    def __call__(self, change: Draft) -> None:
        """Add the new activation to the change of an old one, or ignore a ReLU."""
        with contextlib.suppress(KeptError):
            if fixed(change.old)[0] == "relu":
                return
        if change.inside or change.recurrent:
            raise KeptError(_RECURRENT if change.recurrent else _INSIDE)
        if reason := self._reasons.get(id(change.holder)):
            raise KeptError(f"{reason}: {_ADVICE[reason]}")
        try:
            self._maker.make(change)
        except NoExactStartError:
            self._fitted(change)
        for start in change.starts:
            self._check(change, start)
        change.after = f"{change.new.k} units of ReLU"

    def _check(self, change: Draft, start: KnownStart) -> None:
        """Raise an error if k units cannot have the slopes at both ends."""
        far = np.array([-2e6, -1e6, 1e6, 2e6])
        values = start.units(self._k, _RELU)
        errors = np.diff(start.differences(values, _RELU, far)[0])[::2] / 1e6
        known = [end is not None for end in start.ends]
        if not values[2].any() or np.any(np.abs(errors[known]) > 1e-3):
            raise ValueError(
                f"The activation of {change.layer!r} needs more hidden units for its "
                f"slopes at both ends: expected a larger k. Received: k={self._k}"
            )

    def _fitted(self, change: Draft) -> None:
        """Add the VAF for a trained activation, or for one of no known function.

        It is equal to a trained activation if it can be.
        """
        layer, options = change.old, dict[str, Any](name=change.name)
        shape: Any = (None, None)
        values: Any = functools.partial(evaluate, getattr(layer, "call", layer))
        if isinstance(layer, TrainableActivation):
            with contextlib.suppress(ValueError):
                if units_of(layer)[0] is _RELU:
                    change.new, change.error = to_vaf(layer), 0.0
                    return
            values, shape = layer.function, built_shape(layer)
            options |= {"sharing": layer.sharing, "data_format": layer.data_format}
        elif not np.isfinite(values(INSIDE)).all():
            raise KeptError("it is not finite on [-8, 8]")
        new = VAFActivation(self._k, "relu", **options)
        new.build(shape)
        count = int(np.prod(new.weights[-1].shape))
        change.starts = [_ValuesStart(values, i) for i in range(count)]
        set_units(new, [start.units(self._k, _RELU) for start in change.starts])
        errors = [start.error(self._k).largest for start in change.starts]
        change.new, change.error = new, max(errors)


class _ValuesStart(KnownStart):
    """The start at one of the functions whose values a function returns in float64."""

    def __init__(self, values: Any, index: int) -> None:
        self._values, self._index = values, index
        self._cached = object()  # fits are cached by attributes, and values may change

    def target(self, x: np.ndarray) -> np.ndarray:
        return np.reshape(self._values(x), (*np.shape(x), -1))[..., self._index]

    def fitted(self, g: Function) -> bool:
        return True  # no unit is known that is equal to the function

    def units(self, k: int, g: Function) -> Values:
        return fit(self, k, g)
