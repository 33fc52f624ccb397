"""`TrainingRun` and `NetworkRun`, which describe one of many trainings."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.training.history import History


class TooLittleMemory(MemoryError):
    """Networks that are trained together need more memory than is free."""


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """One of the trainings of `train_many`.

    Args:
        model: A compiled model. Training sets it to the weights of its best epoch.
        training: Indices of the training rows.
        validation: Indices of the validation rows, which select the best epoch.
        seed: Seed of the shuffling.
        build: A label. The models of runs with equal labels come from the same code and
            differ only in the values of their variables, so only one of them is
            compiled. `None` differs from all other labels.
    """

    model: keras.Model
    training: np.ndarray
    validation: np.ndarray
    seed: int = 0
    build: Hashable = None

    @property
    def label(self) -> Hashable:
        """The label, or a unique label if `build` is `None`."""
        return id(self) if self.build is None else self.build


class NetworkRun(NamedTuple):
    """One of the trainings of a `NetworkTrainer`.

    Args:
        start: Values of all variables, from `NetworkTrainer.start` or `read_variables`.
        training: Indices of the training rows.
        validation: Indices of the validation rows, which select the best epoch.
        seed: Seed of the shuffling.
    """

    start: list[Any]
    training: np.ndarray
    validation: np.ndarray
    seed: int = 0


class TrainedNetwork(NamedTuple):
    """Result of a `NetworkRun`: its history and the weights of its best epoch."""

    history: History
    weights: list[np.ndarray]


def check_rows(run: TrainingRun, rows: int) -> None:
    """Raise a `ValueError` unless the rows of a run are valid indices.

    Args:
        run: The run.
        rows: Number of rows of the data.
    """
    for name in ("training", "validation"):
        indices = np.asarray(getattr(run, name))
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
