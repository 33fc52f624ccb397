"""`compare`, the cross-validated comparison of activations, and its files."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
from matplotlib.figure import Figure
from pandas import DataFrame

from keras_vaf.datasets import Dataset, load, read_table
from keras_vaf.experiments.arms import Arm, find_arms, references
from keras_vaf.experiments.figure import comparison_figure
from keras_vaf.experiments.networks import build_network, refit
from keras_vaf.experiments.recipe import Recipe, folds_of
from keras_vaf.experiments.results import ARM, choose, models_of, select, settings_of
from keras_vaf.experiments.run import Study, train_missing
from keras_vaf.experiments.tables import advice, table, text_of
from keras_vaf.models.files import load_model
from keras_vaf.training import recipe as defaults
from keras_vaf.utils import (
    atomic_path,
    check_distinct,
    check_flag,
    check_integer,
    check_kind,
    check_kinds,
    check_seeds,
    png_bytes,
    write_atomically,
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The records of a comparison, and its files.

    Attributes:
        records: The records of all trainings, as from `records`.
        folder: Folder of `table.md`, `comparison.png` and `best.keras`.
        dataset: The data.
        arms: The activations.
        recipe: How they were trained.
    """

    records: DataFrame
    folder: Path
    dataset: Dataset
    arms: Sequence[Arm]
    recipe: Recipe

    @property
    def table(self) -> DataFrame:
        """Scores, gains, p-values and costs, with one row for each model: `table`."""
        return table(self.records)

    @property
    def choice(self) -> tuple[Arm, DataFrame]:
        """The activation in `best.keras`, and its selected records."""
        key, selected = choose(models_of(self.records)), select(self.records)
        [arm] = (arm for arm in self.arms if arm.key == key)
        return arm, selected.groupby(ARM).get_group(key)

    @property
    def advice(self) -> str:
        """Two sentences: the model to use with its evidence, and the next step."""
        return advice(self.records)

    @property
    def best_model(self) -> keras.Model:
        """The recommended network, trained again on all rows, from `best.keras`."""
        return load_model(self.folder / "best.keras")

    def plot(self) -> Figure:
        """Return the picture of the scores, and of what `best.keras` has learned."""
        return comparison_figure(self.records, self.best_model, self.dataset.x)


def compare(
    data: Dataset | str | os.PathLike[str] | DataFrame,
    activations: str | Sequence[Arm] = ",".join(defaults.ACTIVATIONS),
    recipe: Recipe | None = None,
    *,
    seeds: Sequence[int] = (0,),
    output: str | os.PathLike[str] = "runs",
    target: str | None = None,
    quick: bool = False,
    jobs: int = 1,
    verbose: bool = True,
) -> Comparison:
    """Train every activation on the same folds, and write table, picture and network.

    A linear model and gradient boosted trees of scikit-learn are trained, too. Each
    training that ends is recorded, so that an interrupted run can be continued.

    If one of four or more learning rates is selected that is the lowest or the highest,
    all activations get a further one, at most twice on each side.

    Args:
        data: A `Dataset`, the name of a dataset such as `"wine"`, a pandas `DataFrame`,
            or the path of a table, as in `keras_vaf.datasets.read_table`.
        activations: The activations, or their names as for `find_arms`. The first one
            is the baseline. The default is that of `keras-vaf compare`.
        recipe: How the networks are trained.
        seeds: Different seeds. Each seed draws other folds and initial weights.
        output: Folder for all files.
        target: Name of the column to predict, for a `DataFrame` or a path.
        quick: Whether to use the short form of the recipe: one learning rate, 3 folds
            and at most 100 epochs.
        jobs: Number of processes. Inside `joblib.parallel_config`, trainings run on its
            backend instead, such as Dask.
        verbose: Whether to print a line for each finished batch.

    Raises:
        ValueError: If the data cannot be used or split into the folds, if a network
            cannot be built, or if a seed or an activation occurs twice.
        OSError: If the folder cannot be written to.

    Example:

    >>> import pandas
    >>> data = pandas.DataFrame({"x": range(40), "y": range(40)})
    >>> recipe = Recipe(hidden=(2,), folds=2, epochs=2)
    >>> found = compare(data, "relu", recipe, target="y", verbose=False)
    >>> found.table["parameters"].to_dict()["ReLU"]
    7.0
    """
    check_flag("quick", quick)
    check_integer("jobs", jobs)
    seeds = check_seeds("seeds", seeds)
    if quick and recipe is not None:
        raise ValueError("`quick` replaces the recipe. Received: both of them")
    recipe = recipe or Recipe(**(defaults.QUICK if quick else {}))
    dataset = as_dataset(data, target)
    arms = find_arms(activations) if isinstance(activations, str) else activations
    study = Study(dataset, arms, recipe, seeds, Path(output), jobs)
    check_study(study)
    study = study._replace(arms=(*arms, *references(dataset.task)))
    found = train_missing(study, verbose)
    comparison = Comparison(found, folder_of(study), dataset, arms, recipe)
    write_files(comparison)
    return comparison


def as_dataset(data: Any, target: str | None) -> Dataset:
    """Return the data of `compare` as a `Dataset`."""
    if isinstance(data, Dataset) and target is None:
        return data
    if not isinstance(data, Dataset) and target is not None:
        return read_table(data, target)
    if isinstance(data, str):
        return load(data)
    raise ValueError(
        "A table needs the name of the column to predict, `target`, which a `Dataset` "
        f"has. Received: target={target!r}"
    )


def check_study(study: Study) -> None:
    """Raise errors now rather than after the first training."""
    dataset, arms, recipe, seeds, *_ = study
    check_kinds("activations", arms, Arm, ", or names such as 'relu,prelu'")
    check_integer("the number of activations", len(arms))
    others = references(dataset.task)
    check_distinct("activations", [" ".join(arm.key) for arm in (*arms, *others)])
    check_kind("recipe", recipe, Recipe)
    if dataset.x.ndim != 2:
        raise ValueError(
            "A fully connected network takes a table with one row of numbers per "
            f"sample. Received: inputs of shape {(None, *dataset.x.shape[1:])}"
        )
    first = folds_of(dataset, recipe, seeds[0])[0].fitted
    inputs = first.transform_inputs(dataset.x[:1]).shape[1]
    for arm in arms:
        build_network(dataset, arm, recipe, inputs, seeds[0], fold=0)


def folder_of(study: Study, prefix: str = "", *more: Any) -> Path:
    """Return the folder of a comparison, named by all settings and `more` of them."""
    dataset, recipe = study.dataset, study.recipe
    names = dataset.target, dataset.feature_names, dataset.class_names  # of best.keras
    parts = [recipe.digest(dataset), *recipe.learning_rates, names, *more]
    text = json.dumps([*parts, *(arm.key for arm in study.arms), *study.seeds])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    # The name of a dataset may come from a path.
    name = "".join(c if c.isalnum() else "-" for c in dataset.name)[:60]
    return study.folder / f"{prefix}{name}-{digest}"


def write_files(comparison: Comparison) -> None:
    """Write the recommended network, unless it is there, the table and the picture."""
    folder, dataset = comparison.folder, comparison.dataset
    text = f"{text_of(comparison.records).markdown}\n{comparison.advice}\n"
    write_atomically(folder / "table.md", text)
    try:
        network = comparison.best_model
    except (FileNotFoundError, ValueError):  # missing or damaged
        arm, rows = comparison.choice
        network = refit(dataset, arm, comparison.recipe, *settings_of(rows))
        with atomic_path(folder / "best.keras") as temporary:
            network.save(temporary)
    figure = comparison_figure(comparison.records, network, dataset.x)
    write_atomically(folder / "comparison.png", png_bytes(figure, bbox_inches="tight"))
