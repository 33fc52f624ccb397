"""`History`, the metrics of a training, and `StoppingRule`, which ends it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_vaf.utils import check_choice, check_integer


@dataclass(frozen=True)
class History:
    """Metrics of one training, epoch by epoch.

    Args:
        metrics: One array per metric, with one entry per epoch. Names and values are
            those of `keras.Model.fit`: `loss` and the compiled metrics are computed
            over the batches of the epoch, before each update. `val_loss` and other
            metrics whose names begin with `val_` are computed on the validation data,
            after the epoch.
        best_epoch: Number of the epoch whose weights were kept, counted from 1. It is 0
            if the first epoch was not finite.
        stopped: `"epochs"` (all were run), `"patience"` (no better epoch for `patience`
            epochs) or `"not finite"` (the loss or the monitored value became NaN or
            infinite).
        seconds: Duration of the training in seconds, including compilation. For
            networks trained together, an equal share of the total time.
    """

    metrics: dict[str, np.ndarray]
    best_epoch: int
    stopped: Literal["epochs", "patience", "not finite"]
    seconds: float

    @property
    def epochs(self) -> int:
        """Number of epochs that were trained."""
        return len(self.metrics["loss"])

    @property
    def best(self) -> dict[str, float]:
        """Metrics of the best epoch; empty if there is none."""
        if self.best_epoch == 0:
            return {}
        return {
            name: float(values[self.best_epoch - 1])
            for name, values in self.metrics.items()
            if values.ndim == 1
        }


class NetworkRun(NamedTuple):
    """One of the trainings of `Trainer.train_runs`.

    Attributes:
        weights: Initial weights, as returned by `model.get_weights()`.
        training: Indices of the training rows.
        validation: Indices of the validation rows, which select the best epoch.
        seed: Seed of the shuffling, and of random layers such as dropout.
        learning_rate: Learning rate; `None` for that of the optimizer.
    """

    weights: Sequence[Any]
    training: np.ndarray
    validation: np.ndarray
    seed: int = 0
    learning_rate: float | None = None


class TrainedNetwork(NamedTuple):
    """Result of a `NetworkRun`: its history and the weights of its best epoch."""

    history: History
    weights: list[np.ndarray]


def metrics_of(model: keras.Model) -> dict[str, Any]:
    """Return the metrics of a model; a dictionary of a metric is unpacked, as by Keras.

    A subclass of `keras.Metric` may return one from `result`.
    """
    found = dict[str, Any]()
    for name, value in model.get_metrics_result().items():
        found |= value if isinstance(value, dict) else {name: value}
    return found


@dataclass(frozen=True)
class StoppingRule:
    """Selects the best epoch and stops the training, at the end of each epoch.

    Its arguments are those of `train`. It uses `keras.ops`, so that every backend
    compiles the same rule.
    """

    monitor: str
    mode: str
    patience: int | None

    def __post_init__(self) -> None:
        """Check the arguments."""
        if self.patience is not None:
            check_integer("patience", self.patience)
        check_choice("mode", self.mode, ("min", "max", "last"))

    def check_monitor(self, model: keras.Model) -> None:
        """Raise a `ValueError` unless the monitored value is a metric of the model."""
        results = metrics_of(model).items()
        names = [name for name, value in results if ops.ndim(value) == 0]
        names += [f"val_{name}" for name in names]
        if self.monitor not in names:
            raise ValueError(
                f"`monitor` must be one of the model's metrics: {', '.join(names)}. "
                f"Received: monitor={self.monitor!r}"
            )

    def start(self) -> tuple[Any, Any, Any]:
        """Return the first verdict: best error, epochs since, whether to continue."""
        return (
            ops.convert_to_tensor(np.inf, "float32"),
            ops.convert_to_tensor(0, "int32"),
            ops.convert_to_tensor(True, "bool"),
        )

    def judge(
        self, verdict: tuple[Any, Any, Any], logs: dict[str, Any]
    ) -> tuple[Any, tuple[Any, Any, Any]]:
        """Judge an epoch by its metrics and the verdict after the previous epoch.

        Returns:
            Whether this epoch is the best so far, and the new verdict.
        """
        best, waited, _ = verdict
        error = self._error(ops.cast(logs[self.monitor], "float32"))
        finite = ops.logical_and(ops.isfinite(error), ops.isfinite(logs["loss"]))
        better = finite
        if self.mode != "last":
            better = ops.logical_and(finite, error < best)
        waited = ops.where(better, ops.zeros_like(waited), waited + 1)
        go_on = finite
        if self.patience is not None:
            go_on = ops.logical_and(go_on, waited < self.patience)
        return better, (ops.where(better, error, best), waited, go_on)

    def _error(self, values: Any) -> Any:
        """Return monitored values as errors, for which lower is better."""
        return -values if self.mode == "max" else values

    def history(
        self, metrics: dict[str, np.ndarray], go_on: bool, seconds: float
    ) -> History:
        """Return the history of a training; `go_on` is the end of its last verdict."""
        errors = self._error(metrics[self.monitor])
        finite = np.isfinite(errors) & np.isfinite(metrics["loss"])
        if self.mode == "last":
            errors = -np.arange(len(errors))
        best_epoch = int(np.argmin(np.where(finite, errors, np.inf))) + 1
        stopped: Literal["epochs", "patience", "not finite"] = "epochs"
        if not go_on:
            stopped = "patience" if finite[-1] else "not finite"
        best_epoch = best_epoch if finite.any() else 0
        return History(metrics, best_epoch, stopped, seconds)
