"""`compare`, the cross-validated comparison of activations, and its files."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf.datasets import Dataset, read_table
from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.best import Arm, choose, write_network
from keras_vaf.experiments.comparison_protocols import comparison_protocols
from keras_vaf.experiments.more_rates import more_rates
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.report_files import write_reports
from keras_vaf.experiments.reports.store import Store, file_name
from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.comparison_table import (
    comparison_frame,
    comparison_table,
)
from keras_vaf.experiments.results.learned import learned_formulas
from keras_vaf.experiments.results.trials import with_all_trials
from keras_vaf.experiments.runs.cells import OnProgress, Track, Trainers
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.rows import usable_rows
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.models.files import load_model
from keras_vaf.training import recipe
from keras_vaf.utils import (
    check_flag,
    check_kinds,
    check_seeds,
    png_bytes,
    require,
    write_atomically,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """The reports of a comparison, and its files.

    Attributes:
        reports: One report per trained cell, including those of earlier runs.
        folder: Folder of `report.json`, `table.md`, `comparison.png` and `best.keras`.
        set_aside: New names of files that were not valid reports of their cells.
        rows: Number of rows of the data that are used, on all of which `best.keras` is
            trained.
    """

    reports: tuple[Report, ...]
    folder: Path
    set_aside: tuple[Path, ...]
    rows: int

    @property
    def table(self) -> pandas.DataFrame:
        """Scores, gains, p-values and costs, with one row for each model."""
        return comparison_frame(self.reports)

    @property
    def best_model(self) -> keras.Model:
        """The recommended network, trained again on all rows, from `best.keras`."""
        return load_model(self.folder / "best.keras")

    def plot(self) -> Figure:
        """Return the picture of the scores and of the learned functions."""
        return comparison_figure(self.reports)

    @property
    def choice(self) -> Arm:
        """The activation of the network in `best.keras`."""
        return choose(self.reports)

    @property
    def advice(self) -> str:
        """Two sentences: the model to use with its evidence, and the next step."""
        return advice(self.reports)


def compare(
    data: Dataset | str | os.PathLike[str] | pandas.DataFrame,
    protocols: Sequence[Protocol] = (),
    seeds: Sequence[int] = (0,),
    output: str | os.PathLike[str] = "runs",
    track: Track = lambda items, total: items,
    on_progress: OnProgress | None = None,
    target: str | None = None,
    quick: bool = False,
) -> Comparison:
    """Train every protocol on the same folds, and write reports, table and picture.

    Without protocols, the activations of the recipe are compared, with a linear model
    and gradient boosted trees for reference.

    The report of a cell is written as soon as the cell is trained. If `compare` is
    called again, it trains only the missing cells, so that an interrupted run can be
    continued. If the memory is too small, `compare` warns and trains half as many
    networks at once.

    If the protocols select among the learning rates of the recipe, and one of them
    selects the lowest or the highest, all get a further learning rate (`more_rates`).

    Args:
        data: A `Dataset`, a pandas `DataFrame`, or the path of a table, as in
            `keras_vaf.datasets.read_table`.
        protocols: The protocols to compare. The first protocol is the baseline. `()`
            uses those of the recipe.
        seeds: Different seeds. Each seed draws other folds and initial weights.
        output: Folder for all files.
        track: Function that takes an iterable of the trained cells and their number and
            returns the same iterable, like `rich.progress.track`.
        on_progress: As in `Trainers`.
        target: Name of the column to predict, for a `DataFrame` or a path.
        quick: Whether to use the short form of the recipe, without protocols.

    Returns:
        The reports, and the folder of the files.

    Raises:
        ValueError: If a table has no target, or cannot be used, if the data cannot be
            split into the folds, if a network cannot be built, or if a seed or a
            protocol occurs twice.
        OSError: If the folder cannot be written to.

    Example:

    >>> import pandas
    >>> x = np.arange(40.0)
    >>> table = pandas.DataFrame({"x": x, "y": 2 * x})
    >>> [relu] = find_variants("relu")
    >>> dataset = keras_vaf.datasets.read_table(table, "y")
    >>> protocol = Protocol.of(dataset, relu, hidden=(2,), folds=2, epochs=2)
    >>> compare(dataset, [protocol]).table["parameters"].to_dict()
    {'ReLU': 7.0, 'constant (mean)': nan}
    """
    check_flag("quick", quick)
    check_kinds("protocols", protocols, Protocol)
    dataset = as_dataset(data, target)
    protocols = protocols or comparison_protocols(
        dataset,
        references=dataset.x.ndim == 2,
        **(recipe.QUICK if quick else {}),
    )
    check_comparison(dataset, protocols, seeds)
    folder = Path(output) / folder_name(protocols, seeds)
    check_writable(folder)
    store = Store(Path(output) / "cells")
    where = dataset, store, track, Trainers(on_progress)
    run = train_missing(protocols, seeds, *where)
    joined = run.reports
    while more := more_rates(run.reports):
        known = {each.protocol.digest: each.protocol for each in run.reports}
        further = train_missing([*known.values(), *more], seeds, *where)
        moved = (*run.set_aside, *further.set_aside)
        joined = tuple(with_all_trials(further.reports))
        run = replace(further, set_aside=moved)
    rows = len(usable_rows(dataset, protocols[0].preprocessing.missing))
    comparison = Comparison(joined, folder, run.set_aside, rows)
    write_comparison(comparison, joined, dataset)
    return comparison


def as_dataset(data: Any, target: str | None) -> Dataset:
    """Return a dataset, or read the table of `compare` or `search` as one."""
    if isinstance(data, Dataset):
        return data
    if target is None:
        raise ValueError(
            "A table needs the name of the column to predict: `target`. Received: None"
        )
    return read_table(data, target)


def check_comparison(
    dataset: Dataset, protocols: Sequence[Protocol], seeds: Sequence[int]
) -> None:
    """Raise errors now rather than after the first training."""
    require("matplotlib", extra="experiments")
    check_seeds("seeds", seeds)
    for protocol in protocols:
        if protocol.is_reference:
            require("sklearn", extra="experiments")
        else:
            ProtocolTrainer(protocol, dataset).check()


def write_comparison(
    comparison: Comparison, trained: Sequence[Report], dataset: Dataset
) -> None:
    """Write report, table and picture of a comparison, and the chosen network.

    Args:
        comparison: The comparison.
        trained: The reports to write, from which those of the comparison follow.
        dataset: The data.
    """
    reports, folder = comparison.reports, comparison.folder
    write_reports(folder / "report.json", trained)
    parts = [comparison_table(reports).markdown, f"{comparison.advice}\n"]
    parts += filter(None, [learned_formulas(reports)])
    write_atomically(folder / "table.md", "\n".join(parts))
    picture = png_bytes(comparison_figure(reports), bbox_inches="tight")
    write_atomically(folder / "comparison.png", picture)
    # The name of the folder depends on all settings that determine the network.
    write_network(comparison.choice, dataset, folder / "best.keras")


def folder_name(
    protocols: Sequence[Protocol], seeds: Sequence[int], further: Sequence[str] = ()
) -> str:
    """Return the name of a folder, which depends on all settings.

    Args:
        protocols: The protocols.
        seeds: The seeds.
        further: Settings that the protocols do not have.
    """
    parts = [keras.backend.backend(), *(p.digest for p in protocols), *map(str, seeds)]
    parts += further
    digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()[:8]
    return f"{file_name(protocols[0].dataset)}-{digest}"


def check_writable(folder: Path) -> None:
    """Raise an error now rather than after the first training."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
