"""`Trainer`, which trains networks of one architecture."""

import importlib
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import keras
import numpy as np

from keras_vaf.training.data import (
    make_variables,
    number_of_rows,
    order_of_rows,
    take,
)
from keras_vaf.training.history import History, NetworkRun, StoppingRule, TrainedNetwork
from keras_vaf.training.loops.run_epochs import run_epochs
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import check_integer


class Trainer:
    """Trains networks of one architecture, which is compiled only once; see `train`.

    On JAX, `width` networks of `train_runs` are trained together. An incomplete batch
    is filled up, so that all batches run the same program. The result of a training is
    then bit-identical for any other networks in the batch, and another width changes it
    by rounding. Width 1 trains networks in sequence, as TensorFlow and PyTorch do.

    Args:
        model: A compiled Keras model.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        width: Number of networks that are trained together. It is halved, with a
            warning, if the memory is too small.

    Raises:
        ValueError: If the model is not compiled, if an argument is out of its range, or
            if the width is above 1 on a backend other than JAX.

    Example:

    >>> data = np.random.normal(size=(20, 3)), np.random.normal(size=(20, 1))
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer="sgd", loss="mse")
    >>> weights, rows = model.get_weights(), (np.arange(15), np.arange(15, 20))
    >>> runs = [
    ...     NetworkRun(weights, *rows, learning_rate=rate) for rate in (0.01, 0.1)
    ... ]
    >>> slow, fast = Trainer(model).train_runs(data, runs, epochs=3)
    >>> fast.history.epochs
    3
    """

    def __init__(
        self,
        model: keras.Model,
        batch_size: int | None = None,
        patience: int | None = None,
        monitor: str = "val_loss",
        mode: str = "min",
        width: int = 1,
    ) -> None:
        if not isinstance(model, keras.Model) or not model.compiled:
            raise ValueError(
                "Expected a model with a loss and an optimizer: call "
                f"`model.compile(...)` first. Received: model={model!r}, not compiled"
            )
        if batch_size is not None:
            check_integer("batch_size", batch_size)
        check_integer("width", width)
        if width > 1 and keras.backend.backend() != "jax":
            raise ValueError(
                "Networks are trained together only on JAX: use `width=1`, or set "
                f"KERAS_BACKEND=jax. Received: width={width}"
            )
        self.model = model
        self.batch_size = batch_size
        self.rule = StoppingRule(monitor, mode, patience)
        self.width = width
        self._loop: Any = None
        self._before: list[tuple[keras.Variable, np.ndarray]] = []

    def train(
        self, data: tuple[Any, ...], validation_data: Any, epochs: int, seed: int = 0
    ) -> History:
        """Train the model, and set it to the weights of its best epoch.

        Args:
            data: Inputs, targets and perhaps weights of the rows, as NumPy arrays.
            validation_data: The same for validation.
            epochs: As in `keras_vaf.training.train`.
            seed: As in `keras_vaf.training.train`.

        Returns:
            The metrics of each epoch, and the best epoch.
        """
        started = time.perf_counter()
        self._prepare(data)
        if self._loop is None:
            name = f"keras_vaf.training.loops.{keras.backend.backend()}_loop"
            loop = importlib.import_module(name).Loop
            self._loop = loop(self.model, self.rule, self.batch_size)
        self._loop.begin(data, validation_data)
        order = partial(order_of_rows, number_of_rows(data), self.batch_size, seed)
        try:
            metrics, go_on = run_epochs(self._loop.run, epochs, order)
        finally:
            self._loop.finish()
        return self.rule.history(metrics, go_on, time.perf_counter() - started)

    def train_runs(
        self, data: Any, runs: Sequence[NetworkRun], epochs: int
    ) -> list[TrainedNetwork]:
        """Train networks, each on its own rows of the same data.

        A network that stops early, or whose loss is not finite, is frozen while the
        others of its batch continue.

        Args:
            data: Inputs and targets, as NumPy arrays.
            runs: The runs. If the width is above 1, all have equal numbers of rows.
            epochs: Largest number of epochs.

        Returns:
            The `history` of each run, and the `weights` of its best epoch.
        """
        self._prepare(data)
        trained: list[TrainedNetwork] = []
        while len(trained) < len(runs):
            batch = runs[len(trained) : len(trained) + self.width]
            if self.width == 1:
                trained.append(self._train_one(batch[0], data, epochs))
                continue
            try:
                trained += self._train_batch(batch, data, epochs)
            except MemoryError:
                warnings.warn(
                    f"The memory is too small for {self.width} networks: training "
                    f"{self.width // 2} at a time.",
                    stacklevel=2,
                )
                self.width, self._loop = self.width // 2, None
        return trained

    def _prepare(self, data: Any) -> None:
        """Create all variables, and remember their values for `_start`."""
        if not self._before:
            make_variables(self.model, take(data, slice(self.batch_size)))
            self.model.optimizer.build(self.model.trainable_variables)
            self.rule.check_monitor(self.model)
            for variable in (*self.model.variables, *self.model.optimizer.variables):
                value = keras.ops.convert_to_numpy(variable.value)
                self._before.append((variable, value))

    def _start(self, run: NetworkRun) -> None:
        """Set all variables to their values at the start of a training."""
        for variable, value in self._before:
            variable.assign(value)
        self.model.set_weights(run.weights)
        weights = {id(weight) for weight in self.model.weights}
        states = [state for state in self.model.variables if id(state) not in weights]
        words = independent_seeds(run.seed, "layers", count=len(states))
        for state, word in zip(states, words, strict=True):  # of dropout, for example
            state.assign([word >> 1, 0])  # PyTorch does not accept larger seeds
        if run.learning_rate is not None:
            self.model.optimizer.learning_rate = run.learning_rate

    def _train_one(self, run: NetworkRun, data: Any, epochs: int) -> TrainedNetwork:
        self._start(run)
        parts = take(data, run.training), take(data, run.validation)
        history = self.train(*parts, epochs, run.seed)
        return TrainedNetwork(history, self.model.get_weights())

    def _train_batch(
        self, batch: Sequence[NetworkRun], data: Any, epochs: int
    ) -> list[TrainedNetwork]:
        from keras_vaf.training.loops import jax_batch, jax_loop

        states = []
        for run in batch:
            self._start(run)
            states.append(jax_loop.state_of(self.model, self.rule))
        self._loop = self._loop or jax_batch.BatchLoop(
            self.model, self.rule, self.batch_size, self.width
        )
        trained = []
        for history, state in self._loop.train(states, batch, data, epochs):
            jax_loop.assign_best(self.model, state)
            trained.append(TrainedNetwork(history, self.model.get_weights()))
        return trained


def widest() -> int:
    """Return the largest number of networks worth training together on this device."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    # A few networks keep a CPU core busy; an accelerator can run many more.
    return 16 if jax.default_backend() == "cpu" else 256
