"""`train`, Algorithm 1 of the paper, which keeps the weights of the best epoch."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import keras
import numpy as np

from keras_vaf.training.data import (
    assign_variables,
    check_compiled,
    number_of_rows,
    order_of_rows,
    prepare,
    read_variables,
    take,
    to_arrays,
)
from keras_vaf.training.history import History, StoppingRule
from keras_vaf.training.loops.loop import Loop, make_loop
from keras_vaf.training.loops.run_epochs import Progress, run_epochs
from keras_vaf.utils import check_integer


def train(
    model: keras.Model,
    x: Any,
    y: Any,
    validation_data: tuple[Any, ...],
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    seed: int = 0,
    on_progress: Progress | None = None,
    sample_weight: Any = None,
) -> History:
    """Train a model and set it to the weights of its best epoch.

    This is Algorithm 1 of the paper. A compiled program runs many epochs per call,
    which for small networks is ten to a hundred times faster than `keras.Model.fit`.
    Loss, optimizer and metrics are those with which the model was compiled. Training
    continues from the current weights of the model and the current state of the
    optimizer.

    Args:
        model: A compiled Keras model.
        x: Inputs: an array, or a list or dictionary of arrays of equal length.
        y: Targets, in the same forms.
        validation_data: Pair `(x, y)`, or triple with the weights of the rows, that
            selects the best epoch.
        epochs: Largest number of epochs.
        batch_size: Rows per update; `None` uses all rows at once (full batch). NumPy
            shuffles the rows in each epoch, in the same way on every backend.
        patience: Number of consecutive epochs without improvement after which training
            stops. `None` never stops early.
        monitor: The metric that selects the best epoch.
        mode: `"min"` if lower values of `monitor` are better, `"max"` if higher values
            are better, `"last"` if the last finite epoch is kept.
        seed: Seed of the shuffling.
        on_progress: Function called about twice per second with the number of finished
            epochs and the metrics of the last epoch.
        sample_weight: The weight of each training row in the loss, as in
            `keras.Model.fit`.

    Returns:
        The metrics of each epoch, and the best epoch.

    Raises:
        ValueError: If the model is not compiled, if an argument is out of its range, or
            if the data are empty, have unequal lengths, or do not fit the model.

    Example:

    >>> x, y = np.random.normal(size=(20, 3)), np.arange(20) % 2
    >>> model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    >>> model.compile(optimizer="adam", loss="binary_crossentropy")
    >>> history = train(model, x[:15], y[:15], (x[15:], y[15:]), epochs=3)
    >>> history.epochs, history.stopped
    (3, 'epochs')
    """
    trainer = Trainer(model, batch_size, patience, monitor, mode)
    return trainer.train(
        x, y, validation_data, epochs, seed, on_progress, sample_weight
    )


def refit(
    model: keras.Model,
    x: Any,
    y: Any,
    epochs: int,
    batch_size: int | None = None,
    seed: int = 0,
) -> History:
    """Train a model on all rows for a known number of epochs, in the loop of `train`.

    Without validation rows, the model gets the weights of the last finite epoch.

    Args:
        model: As in `train`.
        x: As in `train`.
        y: As in `train`.
        epochs: Number of epochs.
        batch_size: As in `train`.
        seed: As in `train`.

    Returns:
        The metrics of each epoch. Their validation metrics are those of one row.

    Raises:
        ValueError: As in `train`.
    """
    data = to_arrays("`(x, y)`", (x, y))
    one_row = take(data, slice(1))  # the loop evaluates at least one row
    trainer = Trainer(model, batch_size, mode="last")
    return trainer.train(data[0], data[1], one_row, epochs, seed)


class Trainer:
    """Trains one model several times and compiles it only once; see `train`.

    Between two trainings, `restart` resets the model.

    Args:
        model: A compiled Keras model.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.

    Raises:
        ValueError: If the model is not compiled or an argument is out of its range.

    Example:

    >>> x, y = np.random.normal(size=(20, 3)), np.random.normal(size=(20, 1))
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer="sgd", loss="mse")
    >>> trainer = Trainer(model)
    >>> first = trainer.train(x[:15], y[:15], (x[15:], y[15:]), epochs=3)
    >>> trainer.restart()
    >>> second = trainer.train(x[5:], y[5:], (x[:5], y[:5]), epochs=3)
    """

    def __init__(
        self,
        model: keras.Model,
        batch_size: int | None = None,
        patience: int | None = None,
        monitor: str = "val_loss",
        mode: str = "min",
    ) -> None:
        check_compiled(model)
        if batch_size is not None:
            check_integer("batch_size", batch_size)
        self.model = model
        self.batch_size = batch_size
        self.rule = StoppingRule(monitor, mode, patience)
        self._loop: Loop | None = None
        self._start: list[np.ndarray] | None = None

    def train(
        self,
        x: Any,
        y: Any,
        validation_data: tuple[Any, ...],
        epochs: int,
        seed: int = 0,
        on_progress: Progress | None = None,
        sample_weight: Any = None,
    ) -> History:
        """Train the model and set it to the weights of its best epoch.

        Args:
            x: As in `keras_vaf.training.train`.
            y: As in `keras_vaf.training.train`.
            validation_data: As in `keras_vaf.training.train`.
            epochs: As in `keras_vaf.training.train`.
            seed: As in `keras_vaf.training.train`.
            on_progress: As in `keras_vaf.training.train`.
            sample_weight: As in `keras_vaf.training.train`.

        Returns:
            The metrics of each epoch, and the best epoch.

        Raises:
            ValueError: If `epochs` is not positive, or if the data are empty, have
                unequal lengths, or do not fit the model.
        """
        check_integer("epochs", epochs)
        weights = () if sample_weight is None else (sample_weight,)
        data = to_arrays("`(x, y)`", (x, y, *weights))
        validation_data = to_arrays("`validation_data`", validation_data)
        started = time.perf_counter()
        self.prepare(data)
        if self._loop is None:
            self._loop = make_loop(self.model, self.rule, self.batch_size)
        loop = self._loop
        loop.begin(data, validation_data)
        orders = partial(order_of_rows, number_of_rows(data), self.batch_size, seed)
        try:
            metrics, go_on = run_epochs(loop.run, epochs, orders, on_progress)
        finally:
            loop.finish()
        return self.rule.history(metrics, go_on, time.perf_counter() - started)

    def restart(self, weights: Sequence[Any] | None = None) -> None:
        """Reset the model and its optimizer to the state before the first training.

        Args:
            weights: Initial weights, as returned by `model.get_weights()` of a model
                with the same architecture. `None` means the weights before the first
                training.
        """
        if self._start is not None:
            assign_variables(self.model, self._start)
        if weights is not None:
            self.model.set_weights(weights)

    def prepare(self, data: Any) -> None:
        """Create all variables and store their values for `restart`.

        Args:
            data: Inputs and targets, as NumPy arrays.

        Raises:
            ValueError: If the model has no metric with the monitored name.
        """
        if self._start is not None:
            return
        prepare(self.model, data, self.batch_size)
        self.rule.check_monitor(self.model)
        self._start = read_variables(self.model)
