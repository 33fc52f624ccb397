"""`NetworkRun` and `TrainedNetwork`, one of many trainings and its result."""

from typing import Any, NamedTuple

import numpy as np

from keras_vaf.training.history import History


class TooLittleMemory(MemoryError):
    """Networks that are trained together need more memory than is free."""


class NetworkRun(NamedTuple):
    """One of the trainings of `Trainer.train_runs`.

    Attributes:
        start: Values of all variables, from `Trainer.start`.
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
