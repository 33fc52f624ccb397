"""`Recipe`, how every network of a study is trained, and on which rows."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import keras
import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing, Preprocessing
from keras_vaf.datasets.preprocessing import Scaling
from keras_vaf.datasets.scores import Rows, constant_score
from keras_vaf.models import mlp
from keras_vaf.training import fold_rows, recipe, split
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import widest
from keras_vaf.utils import (
    MOST_UNITS,
    check_choice,
    check_distinct,
    check_integer,
    check_json,
    check_number,
    check_numbers,
    check_positive,
    check_sizes,
)

Wanted = Sequence[tuple[int, float]]  # fold and learning rate of each training
Data = Any  # a `Dataset`, or an `OwnModel`, which has the same names


@dataclass(frozen=True)
class Recipe:
    """Settings with which every network of a study is trained.

    Args:
        hidden: Widths of the hidden layers.
        learning_rates: Learning rates, one of which is selected for each activation,
            seed and fold by the validation score.
        optimizer: Name of a class in `keras_vaf.optimizers` or `keras.optimizers`.
        optimizer_arguments: Its further arguments, as JSON values.
        epochs: Largest number of epochs.
        patience: Number of epochs without a better validation loss after which training
            stops; `None` for never.
        batch_size: Rows per mini-batch; `None` for the full batch.
        folds: Number of folds.
        test_size: Test rows. By default, each row is in the test part of one fold. With
            a share such as `0.2`, each fold draws its test rows independently. With a
            number of rows, all folds are tested on the last rows of the data.
        validation_fraction: Share of the rows outside of the test fold that select the
            best epoch.
        missing: `"drop"` leaves out rows with missing inputs, `"mean"` fills them in.
        targets: Scaling of the targets of a regression, as in `Preprocessing`. If it is
            `"min-max"`, scores are in the unit of the scaled targets.

    Raises:
        ValueError: If a number is out of range, or if a learning rate occurs twice.

    Example:

    >>> keras_vaf.experiments.Recipe(folds=3).epochs
    300
    """

    hidden: tuple[int, ...] = (100, 50)
    learning_rates: tuple[float, ...] = recipe.LEARNING_RATES
    optimizer: str = recipe.OPTIMIZER
    optimizer_arguments: dict[str, Any] = field(default_factory=dict, hash=False)
    epochs: int = recipe.EPOCHS
    patience: int | None = recipe.PATIENCE
    batch_size: int | None = recipe.BATCH_SIZE
    folds: int = recipe.FOLDS
    test_size: int | float | None = None
    validation_fraction: float = 0.2
    missing: Literal["mean", "drop"] = "mean"
    targets: Scaling = "standard"

    def __post_init__(self) -> None:
        """Raise a `ValueError` for a value that is out of range."""
        size, share = self.test_size, self.validation_fraction
        share = check_number("validation_fraction", share, above=0, below=1)
        rates = check_numbers("learning_rates", self.learning_rates)
        check_positive("learning_rates", min(rates, default=0))
        check_distinct("learning_rates", rates)
        check_choice("missing", self.missing, ("mean", "drop"))
        check_choice("targets", self.targets, get_args(Scaling))
        # Records have Python's numbers, which JSON supports.
        numbers = {
            "hidden": check_sizes("hidden", self.hidden, MOST_UNITS),
            "learning_rates": rates,
            "validation_fraction": share,
        }
        for name in ("epochs", "folds", "patience", "batch_size"):
            if getattr(self, name) is not None or name in ("epochs", "folds"):
                numbers[name] = check_integer(name, getattr(self, name))
        if size is not None:
            most = 1 if isinstance(size, float) else math.inf
            numbers["test_size"] = check_number("test_size", size, above=0, below=most)
        vars(self).update(numbers)
        check_json("optimizer_arguments", self.optimizer_arguments)
        if "learning_rate" in self.optimizer_arguments:
            raise ValueError(
                "The learning rates are the argument `learning_rates`. Received: "
                f"optimizer_arguments={self.optimizer_arguments!r}"
            )

    def settings(self, dataset: Data) -> dict[str, Any]:
        """Return data, backend and all settings but the learning rates."""
        fields = asdict(self) | {
            "kind": type(self).__name__,
            "data": dataset.checksum,
            "backend": keras.backend.backend(),
            "precision": keras.config.dtype_policy().name,
        }
        del fields["learning_rates"]
        if dataset.categories:  # columns of equal numbers may be categories or not
            fields["categories"] = sorted(dataset.categories)
        return fields

    def digest(self, dataset: Data) -> str:
        """Return the hash of `settings`."""
        text = json.dumps(self.settings(dataset), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def width(self) -> int:
        """Number of networks that are trained together, which is above 1 on JAX."""
        # It is the same for few missing trainings, as other widths differ by rounding.
        folds = min(self.folds, widest())
        return folds * min(len(self.learning_rates), max(1, widest() // folds))

    def usable_rows(self, dataset: Data) -> np.ndarray:
        """Return the rows that are used: all, or those without missing entries."""
        if self.missing == "mean":
            return np.arange(len(dataset.y))
        missing = np.isnan(dataset.x)
        for place, names in dataset.categories.items():
            if "" in names:  # missing entries are a category
                missing[:, place] |= dataset.x[:, place] == names.index("")
        return np.flatnonzero(~missing.any(axis=1))

    def fitted(self, dataset: Dataset, rows: np.ndarray) -> FittedPreprocessing:
        """Return the preprocessing of inputs and targets, from the training rows."""
        targets = self.targets if dataset.task == "regression" else "none"
        return Preprocessing(targets).fit(dataset, rows)

    def network(
        self,
        dataset: Dataset,
        inputs: int,
        activation: Callable[[], keras.layers.Layer],
        seed: int,
    ) -> keras.Sequential:
        """Return the untrained network. Its outputs are logits, or one number."""
        outputs = len(dataset.class_names or "1")
        return mlp(inputs, self.hidden, outputs, activation, seed=seed)


class Fold(NamedTuple):
    """One fold of a dataset: its rows, and the preprocessing of its training rows."""

    dataset: Data
    number: int
    seed: int
    rows: Rows
    fitted: Any  # `FittedPreprocessing`, or `None` for an own model

    def record(self) -> dict[str, Any]:
        """Return what the records of all trainings of this fold share."""
        constant = math.nan  # for an own model
        if self.fitted is not None:
            constant = constant_score(self.dataset, self.fitted, self.rows)
        return {
            "seed": self.seed,
            "fold": self.number,
            "constant": constant,
            "share": len(self.rows.test) / sum(map(len, self.rows)),
        }


def folds_of(dataset: Data, recipe: Recipe, seed: int) -> list[Fold]:
    """Return the folds of a dataset, which all activations share."""
    usable, folds = recipe.usable_rows(dataset), []
    for number, parts in enumerate(_divided(dataset, recipe, seed, usable)):
        rows = Rows(*(usable[part] for part in parts))
        table = isinstance(dataset, Dataset)
        fitted = recipe.fitted(dataset, rows.train) if table else None
        folds.append(Fold(dataset, number, seed, rows, fitted))
    return folds


def _divided(
    dataset: Data, recipe: Recipe, seed: int, usable: np.ndarray
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield training, validation and test rows, as places in the usable rows."""
    classes, fraction = dataset.class_names is not None, recipe.validation_fraction
    y, size = dataset.y[usable], recipe.test_size
    if size is None:
        both = (dataset.groups, dataset.times)
        kept = (None if each is None else each[usable] for each in both)
        yield from fold_rows(y, recipe.folds, seed, classes, fraction, *kept)
        return
    for number in range(recipe.folds):
        if isinstance(size, int):
            last = usable >= len(dataset.y) - size
            rest, test = np.flatnonzero(~last), np.flatnonzero(last)
        else:
            [own] = independent_seeds(seed, number, "test")
            rest, test = split(y, size, own, classes)
        [own] = independent_seeds(seed, number, "split")
        inner = split(y[rest], fraction, own, classes, len(rest))
        yield *(rest[part] for part in inner), test
