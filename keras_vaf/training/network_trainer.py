"""Many trainings of one architecture, which `NetworkTrainer` compiles only once."""

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
    """Trains many networks of one architecture, and compiles it only once.

    On JAX, `width` networks are trained together. A batch that is not full is filled
    up, so that all batches run the same program and each training repeats bit for bit,
    whatever its neighbours. With a width of 1, as on TensorFlow and PyTorch, networks
    are trained one after the other.

    Args:
        model: A compiled model, whose weights do not matter.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        width: Number of networks that are trained together.
        halve: Whether to halve the width, with a warning, if the memory is too small.

    Raises:
        ValueError: If the model is not compiled, an argument is out of its range, or
            the backend trains no networks together.

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
        """Create all variables, which `start` needs.

        Args:
            data: Inputs and targets, from `to_arrays`.
        """
        self._trainer.prepare(data)

    def start(
        self, weights: Sequence[Any], seed: int, learning_rate: float | None = None
    ) -> list[Any]:
        """Return the values of all variables at the start of a training.

        Args:
            weights: Weights to start from, as `model.get_weights()` gives them.
            seed: Seed of random layers, such as dropout.
            learning_rate: Replaces the optimizer's learning rate, if not `None`.
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
            runs: What to train. In a batch, all runs have equally many rows.
            epochs: Number of epochs at most.
            on_progress: Called with the number of epochs done, counted over all runs.

        Returns:
            The result of each run.

        Raises:
            TooLittleMemory: If a batch is too wide for the free memory, unless the
                width is to be halved.
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
        seed: The seed, from which each layer gets its own.
    """
    weights = {id(weight) for weight in model.weights}
    states = [state for state in model.variables if id(state) not in weights]
    words = independent_seeds(seed, "layers", count=len(states))
    for state, word in zip(states, words, strict=True):
        state.assign([word >> 1, 0])  # PyTorch takes no larger ones


def halved(width: int, reason: TooLittleMemory) -> int:
    """Return half of a width, and warn.

    Args:
        width: Number of networks that are trained together.
        reason: The error that says how much memory they need.
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
            "Networks are trained together on JAX only: use `replicas=1`, or set "
            f"KERAS_BACKEND=jax. Received: replicas={width}"
        )


def widest() -> int:
    """Return the largest number of networks worth training together on this device."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    # A few networks keep a core busy; an accelerator takes many more.
    return 16 if jax.default_backend() == "cpu" else 256
