"""`Loop`, the interface of a training loop, and `make_loop`."""

import importlib
from typing import Any, Protocol

import keras
import numpy as np

from keras_vaf.training.history import StoppingRule


class Loop(Protocol):
    """A training loop of one model, which runs many epochs in one call."""

    def begin(self, train: Any, validation: Any) -> None:
        """Set the data, and read the current variables of the model.

        Args:
            train: Inputs and targets for training.
            validation: Inputs and targets for validation, which select the best epoch.
        """

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop.

        Args:
            orders: The order of the training rows, of shape `(epochs, rows)`. Calls
                with equal shapes use the same compiled program.
            count: Number of epochs to run.

        Returns:
            The metrics of each epoch, and whether to continue.
        """

    def finish(self) -> None:
        """Set the model to its best variables, and the optimizer to its last ones."""


def make_loop(model: keras.Model, rule: StoppingRule, batch_size: int | None) -> Loop:
    """Return the training loop of a model for the current backend.

    Args:
        model: A compiled and built model.
        rule: Rule that selects the best epoch and stops the training.
        batch_size: Rows per update; `None` uses all rows at once.

    Returns:
        The loop, before `begin`.
    """
    backend = keras.backend.backend()
    module = importlib.import_module(f"keras_vaf.training.loops.{backend}_loop")
    return module.Loop(model, rule, batch_size)
