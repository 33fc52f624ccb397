"""Many trainings of one architecture, which is compiled only once."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.training.data import check_positive, number_of_rows, take, to_arrays
from keras_vaf.training.history import History
from keras_vaf.training.member import Replica, check_rows
from keras_vaf.training.trainer import Trainer


class Trained(NamedTuple):
    """What became of a replica: how it went, and the weights of its best epoch."""

    history: History
    weights: list[np.ndarray]


class ReplicaTrainer:
    """Trains many networks of one architecture; it is compiled only once.

    On JAX they are trained together, `width` at a time: a batch that is not full is
    filled up, so that all run the same program and repeat bit for bit whatever their
    neighbours. With a width of 1, as on TensorFlow and PyTorch, they are trained one
    after the other.

    Args:
        model: A compiled model, whose weights do not matter.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        width: Number of networks that are trained together.

    Raises:
        ValueError: If the model is not compiled, an argument is out of its range, or
            the backend trains no networks together.

    Example:

    >>> x, y = np.random.normal(size=(20, 3)), np.random.normal(size=(20, 1))
    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer="sgd", loss="mse")
    >>> training, validation = np.arange(15), np.arange(15, 20)
    >>> replicas = [
    ...     Replica(model.get_weights(), training, validation, learning_rate=rate)
    ...     for rate in (0.01, 0.1)
    ... ]
    >>> slow, fast = ReplicaTrainer(model).train(x, y, replicas, epochs=3)
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
        check_width(width)
        self.width = width
        self._trainer = Trainer(model, batch_size, patience, monitor, mode)
        self._loop: Any = None

    def train(
        self,
        x: Any,
        y: Any,
        replicas: Sequence[Replica],
        epochs: int,
        on_progress: Callable[[int], None] = lambda done: None,
    ) -> list[Trained]:
        """Train replicas, each on its own rows of the same data.

        Args:
            x: Inputs: an array, or a list or dictionary of arrays, of equal length.
            y: Targets, likewise.
            replicas: What to train. In a batch, all have equally many rows.
            epochs: Number of epochs at most.
            on_progress: Called with the number of epochs done, counted over all.

        Returns:
            What became of each.

        Raises:
            ValueError: If `epochs` is not positive, or rows are none of the data.
            TooLittleMemory: If a batch is too wide for the memory there is.
        """
        check_positive("epochs", epochs)
        data = to_arrays("`(x, y)`", (x, y))
        for replica in replicas:
            check_rows(replica, number_of_rows(data))
        trained: list[Trained] = []
        for start in range(0, len(replicas), self.width):
            batch = replicas[start : start + self.width]
            train = self._train_one if self.width == 1 else self._train_batch
            trained += train(batch, data, epochs)
            on_progress(len(trained) * epochs)
        return trained

    def _train_one(
        self, batch: Sequence[Replica], data: Any, epochs: int
    ) -> list[Trained]:
        [replica] = batch
        (x, y), validation = (
            take(data, replica.training),
            take(data, replica.validation),
        )
        self._restart(replica, data)
        history = self._trainer.train(x, y, validation, epochs, replica.seed)
        return [Trained(history, self._trainer.model.get_weights())]

    def _train_batch(
        self, batch: Sequence[Replica], data: Any, epochs: int
    ) -> list[Trained]:
        from keras_vaf.training.loops import jax_batch, jax_loop

        model, rule = self._trainer.model, self._trainer.rule
        states = []
        for replica in batch:
            self._restart(replica, data)
            states.append(jax_loop.state_of(model, rule))
        self._loop = self._loop or jax_batch.BatchLoop(
            model, rule, self._trainer.batch_size, self.width
        )
        histories, states = jax_batch.train_batch(
            self._loop, states, batch, data, epochs
        )
        trained = []
        for history, state in zip(histories, states, strict=True):
            jax_loop.assign_best(model, state)
            trained.append(Trained(history, model.get_weights()))
        return trained

    def _restart(self, replica: Replica, data: Any) -> None:
        """Set all variables to where the replica starts."""
        self._trainer.prepare(data)
        self._trainer.restart(replica.weights)
        sow(self._trainer.model, replica.seed)
        if replica.learning_rate is not None:
            self._trainer.model.optimizer.learning_rate = replica.learning_rate


def sow(model: keras.Model, seed: int) -> None:
    """Start the random layers of a model, such as dropout, from a seed.

    Args:
        model: A built model.
        seed: The seed, from which each layer gets one of its own.
    """
    weights = {id(weight) for weight in model.weights}
    states = [state for state in model.variables if id(state) not in weights]
    words = np.random.SeedSequence([seed, *b"layers"]).generate_state(len(states))
    for state, word in zip(states, words, strict=True):
        state.assign([int(word >> 1), 0])  # PyTorch takes no larger ones


def check_width(width: int) -> None:
    """Raise a `ValueError` unless networks can be trained so many at a time.

    Args:
        width: Number of networks that are trained together.
    """
    check_positive("replicas", width)
    if width > 1 and keras.backend.backend() != "jax":
        raise ValueError(
            "Networks are trained together on JAX only: use `replicas=1`, or set "
            f"KERAS_BACKEND=jax. Received: replicas={width}"
        )


def widest() -> int:
    """Return how many networks it is worth to train together on this device."""
    if keras.backend.backend() != "jax":
        return 1
    import jax

    # A core is busy with a few networks already; an accelerator is not.
    return 16 if jax.default_backend() == "cpu" else 256
