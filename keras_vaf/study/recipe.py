"""`Recipe`, how every network of a study is trained, and on which rows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing, Preprocessing
from keras_vaf.datasets.preprocessing import Missing
from keras_vaf.datasets.scores import Rows, baseline_scores
from keras_vaf.training import fold_rows, recipe
from keras_vaf.training.network_trainer import widest
from keras_vaf.utils import (
    check_choice,
    check_distinct,
    check_integer,
    check_positive,
    check_sizes,
)

METRIC = {"classification": "accuracy", "regression": "rmse"}
"""Name of the score, by task."""


@dataclass(frozen=True)
class Recipe:
    """Settings with which every network of a study is trained.

    Args:
        hidden: Widths of the hidden layers.
        learning_rates: Learning rates, one of which is selected for each activation,
            seed and fold by the validation score.
        optimizer: Name of a class in `keras.optimizers`.
        epochs: Largest number of epochs.
        patience: Number of epochs without a better validation loss after which training
            stops; `None` for never.
        batch_size: Rows per mini-batch; `None` for the full batch.
        folds: Number of folds.
        validation_fraction: Share of the rows outside of the test fold that select the
            best epoch.
        missing: Treatment of missing inputs, as in `Preprocessing`.

    Raises:
        ValueError: If a number is out of range, or if a learning rate occurs twice.

    Example:

    >>> keras_vaf.study.Recipe(folds=3).epochs
    300
    """

    hidden: tuple[int, ...] = (100, 50)
    learning_rates: tuple[float, ...] = recipe.LEARNING_RATES
    optimizer: str = recipe.OPTIMIZER
    epochs: int = recipe.EPOCHS
    patience: int | None = recipe.PATIENCE
    batch_size: int | None = recipe.BATCH_SIZE
    folds: int = recipe.FOLDS
    validation_fraction: float = 0.2
    missing: Missing = "mean"

    def __post_init__(self) -> None:
        """Raise a `ValueError` for a value that is out of range."""
        for name in ("epochs", "folds", "patience", "batch_size"):
            if getattr(self, name) is not None or name in ("epochs", "folds"):
                check_integer(name, getattr(self, name))
        object.__setattr__(self, "hidden", check_sizes("hidden", self.hidden))
        object.__setattr__(self, "learning_rates", tuple(self.learning_rates))
        check_integer("the number of learning rates", len(self.learning_rates))
        for place, rate in enumerate(self.learning_rates):
            check_positive(f"learning_rates[{place}]", rate)
        check_distinct("learning_rates", self.learning_rates)
        check_choice("missing", self.missing, ("mean", "drop"))

    def settings(self, dataset: Dataset) -> dict[str, Any]:
        """Return data, backend and all settings but the learning rates."""
        fields = asdict(self) | {
            "data": dataset.checksum,
            "backend": keras.backend.backend(),
            "precision": keras.config.dtype_policy().name,
        }
        return {name: fields[name] for name in fields if name != "learning_rates"}

    def digest(self, dataset: Dataset) -> str:
        """Return the hash of `settings`."""
        text = json.dumps(self.settings(dataset), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def width(self) -> int:
        """Number of networks that are trained together, which is above 1 on JAX.

        It does not depend on how many trainings are missing, because networks that are
        trained in a batch of another width differ by rounding.
        """
        folds = min(self.folds, widest())
        return folds * min(len(self.learning_rates), max(1, widest() // folds))

    def usable_rows(self, dataset: Dataset) -> np.ndarray:
        """Return the rows that are used: all, or those without missing entries."""
        dropped = (self.missing == "drop") & np.isnan(dataset.x).any(axis=1)
        return np.flatnonzero(~dropped)

    def preprocessing(self, dataset: Dataset) -> Preprocessing:
        """Return the preprocessing, which standardises the targets of a regression."""
        if dataset.task == "classification":
            return Preprocessing(targets="none", missing=self.missing)
        return Preprocessing(targets="standard", missing=self.missing)


class Fold(NamedTuple):
    """One fold of a dataset: its rows, and the preprocessing of its training rows."""

    dataset: Dataset
    number: int
    seed: int
    rows: Rows
    fitted: FittedPreprocessing

    def record(self) -> dict[str, Any]:
        """Return what the records of all trainings of this fold share."""
        scores = baseline_scores(self.dataset, self.fitted, self.rows)
        return {
            "seed": self.seed,
            "fold": self.number,
            "constant": scores[METRIC[self.dataset.task]],
            "share": len(self.rows.test) / sum(map(len, self.rows)),
        }


def folds_of(dataset: Dataset, recipe: Recipe, seed: int) -> list[Fold]:
    """Return the folds of a dataset, which all activations share.

    Groups and times of the data decide about the folds, as in `fold_rows`, which raises
    a `ValueError` if the data cannot be split.
    """
    usable = recipe.usable_rows(dataset)
    groups, times = dataset.groups, dataset.times
    folds = fold_rows(
        dataset.y[usable],
        recipe.folds,
        seed,
        dataset.task == "classification",
        recipe.validation_fraction,
        groups=None if groups is None else groups[usable],
        times=None if times is None else times[usable],
    )
    plan = recipe.preprocessing(dataset)
    rows = [Rows(*(usable[part] for part in fold)) for fold in folds]
    return [
        Fold(dataset, number, seed, own, plan.fit(dataset, own.train))
        for number, own in enumerate(rows)
    ]
