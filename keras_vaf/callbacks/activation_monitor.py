"""`ActivationMonitor`, a callback that records the activations during training."""

import os
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.activation_inputs import (
    activation_inputs,
    arrays_of,
    chosen_functions,
    trainable_activations,
)
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.functions import evaluate
from keras_vaf.utils import check_integer, png_bytes, require, write_atomically
from keras_vaf.visualization import ActivationRecord, plot_epochs, style
from keras_vaf.visualization.activation import unit_knots
from keras_vaf.visualization.epochs import PANELS

_NO_DEVIATION = 1e-6
_IDLE = 0.01
_EQUAL = 0.9999
_DEATH = (
    "The activation {!r} is constant after {} epochs: it outputs one value for all "
    "inputs, so no gradient passes through it and earlier layers cannot learn. Restore "
    "earlier weights. Then train its parameters more slowly (`keras_vaf.optimizers."
    "activations_apart(model, optimizer, learning_rate_factor=0.1)`), clip the "
    "gradients, or use a g that is nowhere flat (`g='leaky_relu'`)."
)

_NOT_FINITE = (
    "The activation {!r} is not recorded after {} epochs: its inputs or parameters are "
    "not finite. Train with a lower learning rate, or clip the gradients."
)


class ActivationMonitor(keras.callbacks.Callback):
    """Record each trainable activation and its inputs during training.

    Before the first epoch and after each epoch, the callback runs the model on a few
    rows and makes an `ActivationRecord` for each trainable activation. If a function
    that a whole layer shares becomes constant, it warns and names remedies. It also
    warns where inputs or parameters are not finite, and makes no record of them. At
    most 64 functions of a layer are recorded, evenly spaced, and about 50,000 inputs.

    Args:
        data: Inputs of the model, as arrays in the structure that the model takes.
        picture: Path of a PNG file that is drawn when training ends, by `plot_epochs`.
        rows: Number of rows sampled, evenly spaced, from `data`.
        every: Number of epochs between two records. The last epoch is always recorded.

    Attributes:
        records: A dictionary from the path of each layer to its list of
            `keras_vaf.visualization.ActivationRecord`, from the latest training.

    Raises:
        ValueError: If `data` has no rows, if `rows` or `every` is not a positive
            integer, if `picture` is not a path, or if the model has no trainable
            activation when training begins.
        ImportError: If Matplotlib is needed but not installed.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(initialization="relu", name="vaf")
    >>> model = keras.Sequential([keras.Input((2,)), vaf, keras.layers.Dense(1)])
    >>> model.compile("sgd", loss="mse")
    >>> x = np.random.normal(size=(256, 2))
    >>> monitor = ActivationMonitor(x)
    >>> history = model.fit(x, x.sum(1), epochs=3, verbose=0, callbacks=[monitor])
    >>> [record.epoch for record in monitor.records["vaf"]]
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        data: Any,
        picture: str | Path | None = None,
        rows: int = 256,
        every: int = 1,
    ) -> None:
        super().__init__()
        if picture is not None and not isinstance(picture, str | os.PathLike):
            raise ValueError(f"`picture` must be a path. Received: picture={picture!r}")
        check_integer("rows", rows)
        self.picture, self.every = picture, check_integer("every", every)
        self.records: dict[str, list[ActivationRecord]] = {}
        arrays = arrays_of(data)
        self._data = keras.tree.map_structure(lambda x: _some_rows(x, rows), arrays)
        self._layers: dict[str, TrainableActivation] = {}
        self._epoch = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Find the activations and make the first record."""
        self._layers = trainable_activations(self.model)
        if self.picture is not None:  # fail before training rather than after it
            require("matplotlib.figure", extra="plot")
        self.records = {path: [] for path in self._layers}
        self._epoch = 0
        self._record()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Make a record after every `every` epochs."""
        self._epoch += 1
        if self._epoch % self.every == 0:
            self._record()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Make the last record and draw the picture."""
        if self._epoch % self.every:
            self._record()
        if self.picture is not None and any(self.records.values()):
            write_atomically(Path(self.picture), self._draw())

    def _record(self) -> None:
        for path, inputs in activation_inputs(self.model, self._data).items():
            records, layer = self.records[path], self._layers[path]
            if not all(np.isfinite(a).all() for a in (inputs, *layer.get_weights())):
                warnings.warn(_NOT_FINITE.format(path, self._epoch), stacklevel=2)
                continue
            x = records[0].x if records else None
            record = _observe(layer, inputs, self._epoch, x)
            shared = record.curves.shape[1] == 1
            if shared and record.dead and not (records and records[-1].dead):
                warnings.warn(_DEATH.format(path, self._epoch), stacklevel=2)
            records.append(record)

    @style.styled
    def _draw(self) -> bytes:
        strips = {path: records for path, records in self.records.items() if records}
        columns = min(PANELS, max(map(len, strips.values())))
        size = (2.6 * columns, 2.8 * len(strips) + 0.4)
        figure = require("matplotlib.figure", extra="plot").Figure(size)
        grid = figure.subplots(len(strips), columns, squeeze=False)
        for row, (path, records) in zip(grid, strips.items(), strict=True):
            first, *_ = plot_epochs(records, row)
            first.set_ylabel(f"f(a) of {path}")
            for ax in row[len(records) :]:
                ax.remove()
        style.legend_below(figure, [row[0] for row in grid])
        return png_bytes(figure)


def _some_rows(values: np.ndarray, rows: int) -> np.ndarray:
    places = np.linspace(0, len(values) - 1, min(len(values), rows))
    return values[places.round().astype(int)]


def _observe(
    layer: TrainableActivation, inputs: np.ndarray, epoch: int, x: np.ndarray | None
) -> ActivationRecord:
    """Return the record of a layer; the points `x` cover nearly all inputs."""
    low_high, weights = style.range_of(inputs), _weights(layer)
    x = np.linspace(*low_high, 101) if x is None else x
    curves, outputs = (_values(layer, z, weights) for z in (x[:, None], inputs))
    counts, edges = np.histogram(inputs, bins=40, range=low_high)
    dead = float(np.mean(np.ptp(outputs, axis=0) <= _NO_DEVIATION))
    outside, units = _outside(layer, inputs), _of_units(layer, inputs, weights)
    return ActivationRecord(epoch, x, curves, counts, edges, dead, outside, *units)


def _weights(layer: TrainableActivation) -> list[np.ndarray]:
    """Return the parameters of the chosen functions, `(functions, ...)`."""
    count = len(layer._unshared_axes)
    weights = []
    for name in layer.weight_names:
        weight = keras.ops.convert_to_numpy(getattr(layer, name)).astype("float64")
        functions = weight.reshape(-1, *weight.shape[count:])
        weights.append(functions[chosen_functions(len(functions))])
    return weights


def _values(
    layer: TrainableActivation, x: np.ndarray, weights: list[np.ndarray]
) -> np.ndarray:
    layout = Layout(rank=2, unshared=(1,))

    def value(x: Any, *weights: Any) -> Any:
        return layer.equation.value(x, *(layout.align(w) for w in weights))

    return evaluate(value, x, *weights)


def _outside(layer: TrainableActivation, inputs: np.ndarray) -> float | None:
    knots = unit_knots(layer)
    if knots is None:
        return None
    places = knots.reshape(-1, knots.shape[-1])
    places = places[chosen_functions(len(places))]
    # NaN marks a unit without a knot. Both reductions ignore NaN.
    first = np.fmin.reduce(places, axis=1)
    last = np.fmax.reduce(places, axis=1)
    inside = (inputs >= first) & (inputs <= last)
    return float(1 - inside.mean())


def _of_units(
    layer: TrainableActivation, inputs: np.ndarray, weights: list[np.ndarray]
) -> tuple[float | None, float | None]:
    """Return the shares of idle and of equal hidden units."""
    if not isinstance(layer, VAFActivation):
        return None, None
    alpha, alpha_bias = weights[:2]
    hidden = alpha * inputs[:, :, None] + alpha_bias
    outputs = evaluate(layer.g, hidden)
    outputs -= outputs.mean(axis=0)
    deviations = outputs.std(axis=0)
    idle = deviations <= _IDLE * hidden.std(axis=0)
    outputs /= np.where(idle, np.inf, deviations)
    correlations = np.einsum("nfi,nfj->fij", outputs, outputs) / len(outputs)
    # Each unit is compared with the units before it.
    equal = np.any(np.tril(np.abs(correlations) > _EQUAL, -1), axis=-1)
    return float(idle.mean()), float(equal.mean())
