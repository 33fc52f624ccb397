"""`compare`, the cross-validated comparison of activations, and its files."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
from matplotlib.figure import Figure
from pandas import DataFrame

from keras_vaf.datasets import Dataset, load, read_table
from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.arms import ARMS, FIXED, Arm, find_arms, references, vaf_from
from keras_vaf.experiments.figure import comparison_figure
from keras_vaf.experiments.networks import refit
from keras_vaf.experiments.own_model import own_model
from keras_vaf.experiments.recipe import Data, Recipe
from keras_vaf.experiments.results import ARM, choose, models_of, select, settings_of
from keras_vaf.experiments.run import Study, check_study, folder_of, train_missing
from keras_vaf.experiments.tables import Text, table, text_of
from keras_vaf.models.files import load_model
from keras_vaf.training import recipe as defaults
from keras_vaf.utils import (
    atomic_path,
    check_flag,
    check_integer,
    check_seeds,
    png_bytes,
    write_atomically,
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The records of a comparison, and its files.

    Attributes:
        records: The records of all trainings, as from `records`.
        folder: Folder of `table.md`, `comparison.png`, `best.keras` and, if the best
            network has no trainable activation, `best_vaf.keras`.
        dataset: The data.
        arms: The activations.
        recipe: How they were trained.
    """

    records: DataFrame
    folder: Path
    dataset: Data
    arms: Sequence[Arm]
    recipe: Recipe

    @property
    def table(self) -> DataFrame:
        """Scores, gains, p-values and costs, with one row for each model: `table`."""
        return table(self.records)

    @property
    def choice(self) -> tuple[Arm, DataFrame]:
        """The activation in `best.keras`, and its selected records."""
        return self._selected(choose(models_of(self.records)))

    @property
    def learned(self) -> tuple[Arm, DataFrame] | None:
        """The VAF with the best mean validation score, and its selected records."""
        models = models_of(self.records)
        keys = [arm.key for arm in self.arms if arm.layer == "VAFActivation"]
        return self._selected(choose(models.loc[keys])) if keys else None

    def _selected(self, key: tuple[str, str]) -> tuple[Arm, DataFrame]:
        [arm] = (arm for arm in self.arms if arm.key == key)
        return arm, select(self.records).groupby(ARM).get_group(key)

    @property
    def advice(self) -> str:
        """The advice: what to use, how sure that is, and what to try next."""
        return advice(self.records, timed=self.dataset.times is not None)

    @property
    def text(self) -> Text:
        """The table for readers, with notes on the settings."""
        return text_of(self.records, self.recipe.epochs)

    @property
    def files(self) -> dict[str, tuple[Arm, DataFrame, str]]:
        """The networks in the folder: activation, records, and a sentence on each."""
        choices = {"best.keras": self.choice}
        if self.learned and not self.choice[0].drawn:
            choices["best_vaf.keras"] = self.learned
        tested, found = getattr(self.dataset, "tested", 0), {}
        rows = len(self.recipe.usable_rows(self.dataset)) - tested
        for name, (arm, selected) in choices.items():
            rate, epochs, _ = settings_of(selected)
            text = (
                f"{name} is the network with {arm.title}, trained again on all "
                f"{rows:,} rows for {epochs} epochs with the learning rate {rate:g}."
            )
            found[name] = arm, selected, text
        return found

    @property
    def best_model(self) -> keras.Model:
        """The recommended network, trained again on all rows, from `best.keras`."""
        return load_model(self.folder / "best.keras")

    def plot(self) -> Figure:
        """Return the picture of the scores, and of what the best VAF has learned."""
        name, (arm, *_) = [*self.files.items()][-1]
        network = load_model(self.folder / name)
        return comparison_figure(self.records, network, self.dataset.x, arm.title)


def compare(
    data: Dataset | str | os.PathLike[str] | DataFrame | tuple[Any, ...],
    activations: str | Sequence[Arm] | None = None,
    recipe: Recipe | None = None,
    *,
    model: Callable[[], keras.Model] | keras.Model | Path | str | None = None,
    test_data: tuple[Any, ...] | None = None,
    epochs: int | None = None,
    metric: str | None = None,
    mode: str | None = None,
    seeds: Sequence[int] | None = None,
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
            or the path of a table, as in `keras_vaf.datasets.read_table`. For a
            `model`, inputs and targets, and perhaps weights of the rows, as in `fit`:
            arrays of any shape, or structures of arrays.
        activations: The activations, or their names as for `find_arms`. The first one
            is the baseline. `"vaf"` is a VAF that starts at the best of ReLU, GELU,
            SiLU and tanh on validation rows, or at each function of the `model`, which
            `"as-it-is"` leaves alone. By default, those of `training.recipe`; for a
            trained model, `"as-it-is,vaf,unchanged"`.
        recipe: How the networks are trained. For a `model`, by default with its
            learning rate, a third of it and three times it.
        model: A function that returns a compiled Sequential or Functional model, new in
            each call. All activations have its kernels, loss, metrics and optimizer. Or
            a trained model, or the path of its `.keras` file: the question is then
            whether fine-tuning with a VAF is better.
        test_data: Test rows for a `model`, in the form of `data`. A trained model must
            not have seen them. By default, each seed draws a fifth of the rows.
        epochs: Largest number of epochs for a `model`. Training stops early by the
            validation loss.
        metric: Metric of a `model` that decides, such as `"val_accuracy"`. By default,
            its first one of which Keras knows the direction, or else the loss.
        mode: `"max"` or `"min"`, if Keras does not know the direction of `metric`.
        seeds: Different seeds. Each seed draws other folds and initial weights. By
            default, 0, and for a `model` 0, 1 and 2.
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
    given = {"test_data": test_data, "epochs": epochs, "metric": metric, "mode": mode}
    if model is None and (idle := [n for n, each in given.items() if each is not None]):
        raise ValueError(
            f"`{idle[0]}` belongs to a `model`; a table has its `recipe`. Received: "
            f"{idle[0]} without `model`"
        )
    usual = (0,) if model is None else (0, 1, 2)
    seeds = check_seeds("seeds", usual if seeds is None else seeds)
    if quick and recipe is not None:
        raise ValueError("`quick` replaces the recipe. Received: both of them")
    dataset: Data
    if model is None:
        recipe = recipe or Recipe(**(defaults.QUICK if quick else {}))
        dataset = as_dataset(data, target)
    else:
        dataset = own_model(model, data, test_data, metric, mode)
        recipe = dataset.recipe(recipe, epochs, quick)
    if activations is None:
        activations = ",".join(defaults.ACTIVATIONS)
        if model is not None:
            others = "vaf,unchanged" if dataset.trained else activations
            activations = f"as-it-is,{others}"
    arms = find_arms(activations) if isinstance(activations, str) else activations
    study = check_study(Study(dataset, arms, recipe, seeds, Path(output), jobs))
    if model is None:
        study = _in_two_steps(study, verbose)
    found = train_missing(study, verbose)
    arms = [arm for arm in study.arms if not arm.reference]
    comparison = Comparison(found, folder_of(study), dataset, arms, recipe)
    write_files(comparison)
    return comparison


def _in_two_steps(study: Study, verbose: bool) -> Study:
    """Train all but the VAF, and return the study with one from the best function."""
    others = references(study.dataset.task)
    vafs = [arm for arm in study.arms if arm.name == "vaf"]
    rest = tuple(arm for arm in study.arms if arm.name != "vaf")
    starts, best = {arm.key: arm for arm in rest if arm.name in FIXED}, ARMS["relu"]
    if vafs and starts:
        first, phase = study._replace(arms=(*rest, *others)), "Training all but the VAF"
        models = models_of(train_missing(first, verbose, phase))
        best = starts[choose(models.loc[[*starts]])]
    made = (vaf_from(arm, best) if arm in vafs else arm for arm in study.arms)
    arms = {arm.key: arm for arm in (*made, *others)}  # one may be named as well
    return study._replace(arms=tuple(arms.values()))


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


def write_files(comparison: Comparison) -> None:
    """Write the table, the networks unless they are there, and the picture."""
    folder, files = comparison.folder, comparison.files
    path, said = folder / "table.md", [text for *_, text in files.values()]
    before = path.read_text("utf-8") if path.is_file() else ""
    for name in ("best.keras", "best_vaf.keras"):
        if name not in files or files[name][2] not in before:
            (folder / name).unlink(missing_ok=True)  # of other records
    parts = [comparison.text.markdown, comparison.advice, *said]
    write_atomically(path, "\n\n".join(parts) + "\n")
    dataset = comparison.dataset
    for name, (arm, rows, _) in files.items():
        try:
            network = load_model(folder / name)
        except (FileNotFoundError, ValueError):  # missing or damaged
            network = refit(dataset, arm, comparison.recipe, *settings_of(rows))
            with atomic_path(folder / name) as temporary:
                network.save(temporary)
    # The last network is the one with a trainable activation, if there is one.
    figure = comparison_figure(comparison.records, network, dataset.x, arm.title)
    write_atomically(folder / "comparison.png", png_bytes(figure, bbox_inches="tight"))
