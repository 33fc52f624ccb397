"""Algorithm 1 of the paper: `train` keeps the weights of the best epoch."""

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
    validation_data: tuple[Any, Any],
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    seed: int = 0,
    on_progress: Progress | None = None,
) -> History:
    """Train a model and leave it with the weights of its best epoch.

    This is Algorithm 1 of the paper. Epochs run as one compiled program, many per call,
    which for small networks is ten to a hundred times faster than `keras.Model.fit`.
    The model's loss, optimizer and metrics are those it was compiled with. Training
    goes on from the model's weights and the optimizer's state as they are.

    Args:
        model: A compiled Keras model.
        x: Inputs: an array, or a list or dictionary of arrays, of equal length.
        y: Targets, likewise.
        validation_data: `(x, y)` on which the best epoch is selected.
        epochs: Number of epochs at most.
        batch_size: Rows per update; `None` takes all rows at once (full batch). Rows
            are shuffled in each epoch, with NumPy: in the same way on every backend.
        patience: Number of epochs in a row without a better one after which to stop;
            `None` never stops early.
        monitor: The metric that selects the best epoch.
        mode: `"min"` if low values of `monitor` are good, `"max"` if high ones are.
        seed: Seed of the shuffling.
        on_progress: Called about twice a second with the number of epochs done and the
            metrics of the last one.

    Returns:
        The metrics of each epoch, and the best epoch.

    Raises:
        ValueError: If the model is not compiled, an argument is out of its range, or
            the data has no rows, unequal lengths, or does not fit the model.

    Example:

    >>> x, y = np.random.normal(size=(20, 3)), np.arange(20) % 2
    >>> model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    >>> model.compile(optimizer="adam", loss="binary_crossentropy")
    >>> history = train(model, x[:15], y[:15], (x[15:], y[15:]), epochs=3)
    >>> history.epochs, history.stopped
    (3, 'epochs')
    """
    trainer = Trainer(model, batch_size, patience, monitor, mode)
    return trainer.train(x, y, validation_data, epochs, seed, on_progress)


class Trainer:
    """`train` for several trainings of one model: it is compiled only once.

    Between two trainings, `restart` sets the model back.

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
        validation_data: tuple[Any, Any],
        epochs: int,
        seed: int = 0,
        on_progress: Progress | None = None,
    ) -> History:
        """Train the model and leave it with the weights of its best epoch.

        Args:
            x: As in `keras_vaf.training.train`.
            y: As in `keras_vaf.training.train`.
            validation_data: As in `keras_vaf.training.train`.
            epochs: As in `keras_vaf.training.train`.
            seed: As in `keras_vaf.training.train`.
            on_progress: As in `keras_vaf.training.train`.

        Returns:
            The metrics of each epoch, and the best epoch.

        Raises:
            ValueError: If `epochs` is not positive, or the data has no rows, unequal
                lengths, or does not fit the model.
        """
        check_integer("epochs", epochs)
        data = to_arrays("`(x, y)`", (x, y))
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
        """Set the model and its optimizer back to before the first training.

        Args:
            weights: Weights to start from, as `model.get_weights()` of a model of equal
                architecture gives them; `None` takes those before the first training.
        """
        if self._start is not None:
            assign_variables(self.model, self._start)
        if weights is not None:
            self.model.set_weights(weights)

    def prepare(self, data: Any) -> None:
        """Create all variables, and keep their values for `restart`.

        Args:
            data: Inputs and targets, as NumPy arrays.

        Raises:
            ValueError: If the model has no metric of the monitored name.
        """
        if self._start is not None:
            return
        prepare(self.model, data, self.batch_size)
        self.rule.check_monitor(self.model)
        self._start = read_variables(self.model)
