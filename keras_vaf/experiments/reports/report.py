"""One report per cell: what was done, where, and what came out."""

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

FORMAT = 2
"""Version of the report files; a file of another version is redone."""


@dataclass(frozen=True)
class Trial:
    """One training of a cell, at one learning rate.

    Attributes:
        rate: The learning rate that was tried; `None` is the optimizer's own.
        scores: Scores on the test rows, by name of the metric.
        validation: Loss and scores on the validation rows at the best epoch.
        epochs: Epochs that were run.
        best_epoch: Epoch whose weights were kept; 0 if no epoch had a finite loss.
        stopped: Why training ended: `"epochs"`, `"patience"` or `"not finite"`.
        start: Which of several starts it was, counted from 0.
    """

    rate: float | None
    scores: dict[str, float]
    validation: dict[str, float | None]
    epochs: int
    best_epoch: int
    stopped: str
    start: int = 0


@dataclass(frozen=True)
class Report:
    """The outcome of one cell.

    Where several learning rates were tried, all trials are here, with their scores on
    validation and on test rows; what stands for the cell is the one that did best on
    the validation rows.

    Attributes:
        protocol: What was trained, and how.
        seed: Seed of folds, inner split and starts.
        fold: The test fold, counted from 0.
        rows: Number of rows for `"train"`, `"validation"` and `"test"`.
        trials: The trainings, one for each learning rate.
        baseline: Scores of the constant predictor (majority class, or mean of the
            training targets) on the test rows.
        parameters: Number of trained parameters.
        seconds: Wall-clock time of the trainings, compilation included; where networks
            are trained together, their share.
        curves: `"epoch"`, `"loss"` and `"validation_loss"` of the selected trial,
            thinned.
        activations: Per trainable activation of the selected trial its `"name"`,
            `"config"`, `"weights"` and quantiles of the `"inputs"` that it sees on the
            training rows.
        environment: Versions, backend, device and precision.
        flops: Floating-point operations of one sample's way through the network, as in
            `count_flops`.
    """

    protocol: Protocol
    seed: int
    fold: int
    rows: dict[str, int]
    trials: tuple[Trial, ...]
    baseline: dict[str, float]
    parameters: int
    seconds: float
    curves: dict[str, list[float | None]]
    activations: list[dict[str, Any]]
    environment: dict[str, Any]
    flops: int

    @property
    def cell(self) -> Cell:
        """The cell that this is the report of."""
        return Cell(self.protocol, self.seed, self.fold)

    @property
    def selected(self) -> Trial:
        """The trial that did best on the validation rows."""
        return best_on_validation(self.trials, self.protocol.metric)

    @property
    def score(self) -> float:
        """Test score of the selected trial, by the protocol's metric."""
        return self.selected.scores[self.protocol.metric]

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` makes into an equal report."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """Return the report held by `data`.

        Raises:
            ValueError: If `data` is no report of this format.
        """
        try:
            fields = dict(data)
            if fields.pop("format") != FORMAT:
                raise ValueError(f"format {data['format']!r}")
            fields["protocol"] = Protocol.from_dict(fields["protocol"])
            fields["trials"] = tuple(Trial(**trial) for trial in fields["trials"])
            return cls(**fields)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(
                f"Expected a report of format {FORMAT}. Received: {error!r}"
            ) from error


def best_on_validation(trials: Iterable[Trial], metric: str) -> Trial:
    """Return the trial with the best validation score; the loss decides between equals.

    A trial without a finite epoch comes last.

    Args:
        trials: The trials, of which the first one is taken among equals.
        metric: Name of the score.

    Returns:
        One of them.
    """

    def rank(trial: Trial) -> tuple[float, float]:
        loss, score = trial.validation["loss"], trial.validation[metric]
        if loss is None or score is None:
            return math.inf, math.inf
        return error(metric, score), loss

    return min(trials, key=rank)


def error(metric: str, score: float) -> float:
    """Turn a score into an error, of which low ones are good."""
    return -score if metric.endswith("accuracy") else score


def validation_loss(report: Report) -> float:
    """Return the loss by which the best epoch was chosen; infinite if there is none."""
    loss = report.selected.validation["loss"]
    return math.inf if loss is None else loss


def environment() -> dict[str, Any]:
    """Return what a reader needs to repeat a run: versions, backend, device."""
    backend = keras.backend.backend()
    packages = ("keras_vaf", "keras", "numpy", backend)
    versions = {name: importlib.import_module(name).__version__ for name in packages}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "backend": backend,
        "device": str(keras.ops.zeros(()).device).rpartition("device:")[2].lower(),
        "precision": keras.config.dtype_policy().name,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }
