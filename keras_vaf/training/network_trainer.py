"""`NetworkTrainer`, which trains many networks of one architecture."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import keras

from keras_vaf.training.data import assign_variables, read_variables, take
from keras_vaf.training.runs import NetworkRun, TooLittleMemory, TrainedNetwork
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import Trainer
from keras_vaf.utils import check_integer


class NetworkTrainer:
    """Trains many networks of one architecture, which is compiled only once.

    On JAX, `width` networks are trained together. An incomplete batch is filled up, so
    that all batches run the same program. The result of a training is then
    bit-identical for any other networks in the batch. With a width of 1, as on
    TensorFlow and PyTorch, networks are trained in sequence.

    Args:
        model: A compiled model. Its weights are not used.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        width: Number of networks that are trained together.
        halve: Whether to halve the width, with a warning, if the memory is too small.

    Raises:
        ValueError: If the model is not compiled, if an argument is out of its range, or
            if the width is above 1 on a backend other than JAX.

    Example:

    >>> data = np.random.normal(size=(20, 3)), np.random.normal(size=(20, 1))
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer="sgd", loss="mse")
    >>> trainer = NetworkTrainer(model)
    >>> trainer.prepare(data)
    >>> starts = [
    ...     trainer.start(model.get_weights(), seed=0, learning_rate=learning_rate)
    ...     for learning_rate in (0.01, 0.1)
    ... ]
    >>> training, validation = np.arange(15), np.arange(15, 20)
    >>> runs = [NetworkRun(start, training, validation) for start in starts]
    >>> slow, fast = trainer.train(data, runs, epochs=3)
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
        halve: bool = False,
    ) -> None:
        check_width(width)
        self.width = width
        self._halve = halve
        self._trainer = Trainer(model, batch_size, patience, monitor, mode)
        self._loop: Any = None

    def prepare(self, data: Any) -> None:
        """Create all variables. Call this method before `start`.

        Args:
            data: Inputs and targets, from `to_arrays`.
        """
        self._trainer.prepare(data)

    def start(
        self, weights: Sequence[Any], seed: int, learning_rate: float | None = None
    ) -> list[Any]:
        """Return the values of all variables at the start of a training.

        Args:
            weights: Initial weights, as returned by `model.get_weights()`.
            seed: Seed of random layers, such as dropout.
            learning_rate: Learning rate; `None` for that of the optimizer.
        """
        model = self._trainer.model
        self._trainer.restart(weights)
        seed_random_layers(model, seed)
        if learning_rate is not None:
            model.optimizer.learning_rate = learning_rate
        return read_variables(model)

    def train(
        self,
        data: Any,
        runs: Sequence[NetworkRun],
        epochs: int,
        on_progress: Callable[[int], None] = lambda done: None,
    ) -> list[TrainedNetwork]:
        """Train networks, each on its own rows of the same data.

        Args:
            data: Inputs and targets, from `to_arrays`.
            runs: The runs. Within a batch, all runs must have equal numbers of rows.
            epochs: Number of epochs at most.
            on_progress: Function called with the number of finished epochs, counted
                over all runs.

        Returns:
            The result of each run.

        Raises:
            TooLittleMemory: If a batch is too wide for the free memory and `halve` is
                false.
        """
        self.prepare(data)
        trained: list[TrainedNetwork] = []
        while len(trained) < len(runs):
            batch = runs[len(trained) : len(trained) + self.width]
            train = self._train_one if self.width == 1 else self._train_batch
            count = partial(_count, on_progress, len(trained) * epochs, len(batch))
            try:
                trained += train(batch, data, epochs, count)
            except TooLittleMemory as reason:
                if not self._halve:
                    raise
                self.width, self._loop = halved(self.width, reason), None
            else:
                on_progress(len(trained) * epochs)
        return trained

    def _train_one(
        self, batch: Sequence[NetworkRun], data: Any, epochs: int, on_progress: Any
    ) -> list[TrainedNetwork]:
        [run] = batch
        model = self._trainer.model
        assign_variables(model, run.start)
        x, y = take(data, run.training)
        validation = take(data, run.validation)
        history = self._trainer.train(x, y, validation, epochs, run.seed, on_progress)
        return [TrainedNetwork(history, model.get_weights())]

    def _train_batch(
        self, batch: Sequence[NetworkRun], data: Any, epochs: int, on_progress: Any
    ) -> list[TrainedNetwork]:
        from keras_vaf.training.loops import jax_batch, jax_loop

        model, rule = self._trainer.model, self._trainer.rule
        states = []
        for run in batch:
            assign_variables(model, run.start)
            states.append(jax_loop.state_of(model, rule))
        self._loop = self._loop or jax_batch.BatchLoop(
            model, rule, self._trainer.batch_size, self.width
        )
        histories, states = jax_batch.train_batch(
            self._loop, states, batch, data, epochs, on_progress
        )
        trained = []
        for history, state in zip(histories, states, strict=True):
            jax_loop.assign_best(model, state)
            trained.append(TrainedNetwork(history, model.get_weights()))
        return trained


def _count(
    on_progress: Callable[[int], None], before: int, networks: int, epochs: int, _: Any
) -> None:
    on_progress(before + networks * epochs)


def seed_random_layers(model: keras.Model, seed: int) -> None:
    """Seed the random layers of a model, such as dropout.

    Args:
        model: A built model.
        seed: The seed, from which the seed of each layer is derived.
    """
    weights = {id(weight) for weight in model.weights}
    states = [state for state in model.variables if id(state) not in weights]
    words = independent_seeds(seed, "layers", count=len(states))
    for state, word in zip(states, words, strict=True):
        state.assign([word >> 1, 0])  # PyTorch does not accept larger seeds


def halved(width: int, reason: TooLittleMemory) -> int:
    """Return half of a width, and issue a warning.

    Args:
        width: Number of networks that are trained together.
        reason: The error that states how much memory the batch needs.
    """
    warnings.warn(
        f"A batch of {width} networks {reason}: training {width // 2} at a time.",
        stacklevel=3,
    )
    return width // 2


def check_width(width: int) -> None:
    """Raise a `ValueError` if the backend cannot train several networks together.

    Args:
        width: Number of networks that are trained together.
    """
    check_integer("replicas", width)
    if width > 1 and keras.backend.backend() != "jax":
        raise ValueError(
            "Networks are trained together only on JAX: use `replicas=1`, or set "
            f"KERAS_BACKEND=jax. Received: replicas={width}"
        )


def widest() -> int:
    """Return the largest number of networks worth training together on this device."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    # A few networks keep a CPU core busy; an accelerator can run many more.
    return 16 if jax.default_backend() == "cpu" else 256
