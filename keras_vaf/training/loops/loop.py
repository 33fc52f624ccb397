"""The interface of a backend's training loop, which runs many epochs in one call."""

import importlib
from typing import Any, Protocol

import keras
import numpy as np

from keras_vaf.training.history import StoppingRule


class Loop(Protocol):
    """The epochs of one model, compiled where the backend compiles."""

    def begin(self, train: Any, validation: Any) -> None:
        """Take the data, and the model's variables as they are now.

        Args:
            train: Inputs and targets to train on.
            validation: Inputs and targets that select the best epoch.
        """

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop.

        Args:
            orders: The order of the training rows, one line per epoch. Calls with
                equally many lines use one compiled program.
            count: How many of the lines to use.

        Returns:
            The metrics of each epoch, and whether to go on.
        """

    def finish(self) -> None:
        """Give the model its best variables, and the optimizer its last ones."""


def make_loop(model: keras.Model, rule: StoppingRule, batch_size: int | None) -> Loop:
    """Return the loop of a model on the backend that Keras runs on.

    Args:
        model: A compiled and built model.
        rule: StoppingRule that selects the best epoch and stops the training.
        batch_size: Rows per update; `None` takes all rows at once.

    Returns:
        The loop, not begun.
    """
    backend = keras.backend.backend()
    module = importlib.import_module(f"keras_vaf.training.loops.{backend}_loop")
    return module.Loop(model, rule, batch_size)
