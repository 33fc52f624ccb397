"""`Report`, the protocol, environment and results of one cell."""

from __future__ import annotations

import importlib
import math
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import keras

from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.checks import check_report
from keras_vaf.ops.native.library import find
from keras_vaf.utils import AnyFloat, build

FORMAT = 2
"""Version of the report files. Cells with reports of other versions are retrained."""


@dataclass(frozen=True)
class Trial:
    """One training of a cell, at one learning rate.

    Attributes:
        rate: The learning rate; `None` for that of the optimizer.
        scores: Scores on the test rows, by name of the metric.
        validation: Loss and scores on the validation rows at the best epoch.
        epochs: Number of epochs trained.
        best_epoch: Number of the epoch whose weights were kept; 0 if no epoch had a
            finite loss.
        stopped: Reason why the training ended: `"epochs"`, `"patience"` or `"not
            finite"`.
        start: Number of the start, counted from 0.

    Example:

    >>> scores, validation = {"accuracy": 0.9}, {"loss": 0.3, "accuracy": 0.95}
    >>> Trial(0.01, scores, validation, 40, best_epoch=30, stopped="epochs").best_epoch
    30
    """

    rate: float | None
    scores: dict[str, AnyFloat]
    validation: dict[str, AnyFloat | None]
    epochs: int
    best_epoch: int
    stopped: str
    start: int = 0


@dataclass(frozen=True)
class Report:
    """The results of one cell.

    A report contains all trials, with their validation and test scores. The selected
    trial is the one with the best validation score.

    Attributes:
        protocol: The settings of the training.
        seed: Seed of folds, inner split and initial weights.
        fold: The test fold, counted from 0.
        rows: Number of rows for `"train"`, `"validation"` and `"test"`.
        trials: The trainings, one per start and learning rate.
        baseline: Test scores of the constant predictor (majority class, or mean of the
            training targets).
        parameters: Number of trained parameters.
        seconds: Wall-clock time of the trainings in seconds, including compilation.
            Networks that are trained together share the time equally.
        curves: `"epoch"`, `"loss"` and `"validation_loss"` of the selected trial, at up
            to 100 epochs.
        activations: `"name"`, `"config"` and `"weights"` of each trainable activation
            of the selected trial, and quantiles of its `"inputs"` on the training rows.
        environment: Versions, backend, device and precision.
        flops: Number of floating-point operations of the network for one sample, as in
            `count_flops`.
    """

    protocol: Protocol
    seed: int
    fold: int
    rows: dict[str, int]
    trials: tuple[Trial, ...]
    baseline: dict[str, AnyFloat]
    parameters: int
    seconds: float
    curves: dict[str, list[float | None]]
    activations: list[dict[str, Any]]
    environment: dict[str, Any]
    flops: int

    @property
    def cell(self) -> Cell:
        """The cell of this report."""
        return Cell(self.protocol, self.seed, self.fold)

    @property
    def selected(self) -> Trial:
        """The trial with the best validation score."""
        return best_on_validation(self.trials, self.protocol.metric)

    @property
    def score(self) -> float:
        """Test score of the selected trial, in the metric of the protocol."""
        return self.selected.scores[self.protocol.metric]

    def to_dict(self) -> dict[str, Any]:
        """Return data from which `from_dict` restores the report."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """Return the report from data made by `to_dict`.

        Raises:
            ValueError: If `data` is not a report of this format.
        """
        try:
            number = data.get("format") if isinstance(data, dict) else None
            if number != FORMAT:
                raise ValueError(f"the format {number!r}")
            fields = {name: data[name] for name in data if name != "format"}
            report = build(cls, fields, "report")
            check_report(report)
        except ValueError as error:
            raise ValueError(
                f"Expected a report of format {FORMAT}. Received: {error}"
            ) from error
        return report


def best_on_validation(trials: Iterable[Trial], metric: str) -> Trial:
    """Return the trial with the best validation score, or of these the lowest loss.

    A trial without a finite epoch ranks last. Among equal trials, the first is
    returned.

    Args:
        trials: The trials.
        metric: Name of the score.
    """

    def rank(trial: Trial) -> tuple[float, float]:
        loss, score = trial.validation["loss"], trial.validation[metric]
        if loss is None or score is None:
            return math.inf, math.inf
        return error(metric, score), loss

    return min(trials, key=rank)


def error(metric: str, score: float) -> float:
    """Return a score as an error, for which lower is better."""
    return -score if metric.endswith("accuracy") else score


TIE = 1e-9
"""Means of scores that differ by a smaller share are equal but for rounding."""


def validation_loss(report: Report) -> float:
    """Return the validation loss of the best epoch, or infinity if none is finite."""
    loss = report.selected.validation["loss"]
    return math.inf if loss is None else loss


def environment() -> dict[str, Any]:
    """Return the versions, backend and device, which are needed to repeat a run.

    `native_kernels` is their instruction set, or `""` where they cannot be used.
    """
    backend = keras.backend.backend()
    packages = ("keras_vaf", "keras", "numpy", backend)
    versions = {name: importlib.import_module(name).__version__ for name in packages}
    kernels = find()
    return {
        "versions": {"python": platform.python_version(), **versions},
        "backend": backend,
        "device": str(keras.ops.zeros(()).device).rpartition("device:")[2].lower(),
        "precision": keras.config.dtype_policy().name,
        "native_kernels": kernels.instruction_set if kernels.library else "",
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }
