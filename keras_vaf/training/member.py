"""One of many trainings: a model of its own, or weights for a common one."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

Progress = Callable[[int], None]


class TooLittleMemory(MemoryError):
    """A batch of networks needs more memory than there is."""


@dataclass(frozen=True, eq=False)
class Member:
    """One of many trainings, for `train_many`.

    Args:
        model: A compiled model. It is left with the weights of its best epoch.
        training: Indices of the rows to train on.
        validation: Indices of the rows that say which epoch is best.
        seed: Seed of the shuffling.
        build: A label. Models of members with equal labels come from one piece of code
            and differ in their weights only, so that it is enough to compile one of
            them; `None` is equal to no other.
    """

    model: keras.Model
    training: np.ndarray
    validation: np.ndarray
    seed: int = 0
    build: Hashable = None

    @property
    def key(self) -> Hashable:
        """The label, or one of its own."""
        return id(self) if self.build is None else self.build


@dataclass(frozen=True, eq=False)
class Replica:
    """One of many trainings of one architecture, for `ReplicaTrainer`.

    Args:
        weights: Weights to start from, as `model.get_weights()` gives them.
        training: Indices of the rows to train on.
        validation: Indices of the rows that say which epoch is best.
        seed: Seed of the shuffling, and of random layers such as dropout.
        learning_rate: Takes the place of the optimizer's, if not `None`. Give it to all
            replicas or to none.
    """

    weights: Sequence[np.ndarray]
    training: np.ndarray
    validation: np.ndarray
    seed: int = 0
    learning_rate: float | None = None


def check_rows(member: Member | Replica, rows: int) -> None:
    """Raise a `ValueError` unless a member's rows are rows of the data.

    Args:
        member: The member, or replica.
        rows: Number of rows of the data.
    """
    for name in ("training", "validation"):
        indices = np.asarray(getattr(member, name))
        if indices.ndim != 1 or indices.dtype.kind not in "iu" or len(indices) == 0:
            raise ValueError(
                f"`{name}` must be an array of row indices. Received: an array of "
                f"shape {indices.shape} and dtype {indices.dtype}"
            )
        if indices.min() < 0 or indices.max() >= rows:
            raise ValueError(
                f"`{name}` must be indices of the {rows} rows, counted from 0. "
                f"Received: indices from {indices.min()} to {indices.max()}"
            )


def count_on(
    progress: Progress, done: int, networks: int = 1
) -> Callable[[int, dict[str, Any]], None]:
    """Return what `run_epochs` calls, so that epochs are counted over all members.

    Args:
        progress: Called with the number of epochs done, over all members.
        done: How many were done before.
        networks: Number of networks that are trained together.
    """
    return lambda epochs, _: progress(done + networks * epochs)
