"""`Loop` for PyTorch: Algorithm 1 as a plain Python loop."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import torch

from keras_vaf.training.history import StoppingRule, metrics_of


class Loop:
    """The training loop of a model."""

    def __init__(
        self, model: keras.Model, rule: StoppingRule, batch_size: int | None
    ) -> None:
        self._model = model
        self._rule = rule
        self._batch_size = batch_size

    def begin(self, train: Any, validation: Any) -> None:
        """Set the data, and read the current variables of the model."""
        self._train, self._validation = keras.tree.map_structure(
            keras.ops.convert_to_tensor, (train, validation)
        )
        self._verdict = self._rule.start()
        self._keep()

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop."""
        epochs = []
        for order in keras.ops.convert_to_tensor(orders[:count]):
            logs = self._epoch(order)
            epochs.append(keras.tree.map_structure(keras.ops.convert_to_numpy, logs))
            better, self._verdict = self._rule.judge(self._verdict, logs)
            if better:
                self._keep()
            if not self._verdict[-1]:
                break
        logs = {name: np.stack([log[name] for log in epochs]) for name in epochs[0]}
        return logs, bool(self._verdict[-1])

    def finish(self) -> None:
        """Set the model to its best variables. The optimizer keeps its last ones."""
        for variable, value in zip(self._model.variables, self._best, strict=True):
            variable.assign(value)

    def _keep(self) -> None:
        self._best = [v.value.detach().clone() for v in self._model.variables]

    def _epoch(self, order: torch.Tensor) -> dict[str, Any]:
        """Train on all batches, then evaluate."""
        logs = self._sweep(self._model.train_step, self._train, order)
        rows = torch.arange(
            len(keras.tree.flatten(self._validation)[0]), device=order.device
        )
        with torch.no_grad():
            validation = self._sweep(self._model.test_step, self._validation, rows)
        return logs | {f"val_{name}": value for name, value in validation.items()}

    def _sweep(
        self, step: Callable[[Any], Any], data: Any, rows: torch.Tensor
    ) -> dict[str, Any]:
        """Apply a step to all rows, batch by batch, and return the metrics."""
        self._model.reset_metrics()
        for batch in torch.split(rows, self._batch_size or len(rows)):
            step(keras.tree.map_structure(lambda array, b=batch: array[b], data))
        return metrics_of(self._model)
