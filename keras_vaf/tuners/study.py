"""`search`, which compares a VAF with drawn values with fixed activations."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.best import Arm, choose
from keras_vaf.experiments.comparison import (
    Comparison,
    as_dataset,
    check_comparison,
    check_writable,
    folder_name,
    write_comparison,
)
from keras_vaf.experiments.comparison_protocols import comparison_protocols
from keras_vaf.experiments.protocol import Protocol, cells
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.experiments.results.selection import by_protocol
from keras_vaf.experiments.results.trials import with_all_trials
from keras_vaf.experiments.runs.cells import Trainers
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.rows import usable_rows
from keras_vaf.experiments.variants import SEARCHED, Variant, find_variants
from keras_vaf.training import recipe
from keras_vaf.tuners import figures
from keras_vaf.tuners.cell_tuner import (
    LEARNING_RATES,
    cell_tuner,
    direction_of,
    number_of_trials,
)
from keras_vaf.tuners.results import TrialResult, to_csv
from keras_vaf.utils import png_bytes, write_atomically

if TYPE_CHECKING:
    import pandas

OnProgress = Callable[[float, int], None]

FIXED = find_variants("relu,silu,gelu")
"""The activations with which a searched VAF is compared by default."""

TRIALS = 24
"""Default number of trials."""

FOLDS = 3
"""Default number of folds."""


@dataclass(frozen=True)
class Search(Comparison):
    """The result of `search`: a comparison of the searched VAF with other activations.

    Attributes:
        trained: The reports of all trials, before those of the VAF were joined.
        trials: The trials of the VAF, in the order of their start.
    """

    trained: tuple[Report, ...] = ()
    trials: tuple[TrialResult, ...] = ()

    @property
    def best(self) -> Arm:
        """The trial of the VAF with the best mean validation score."""
        own = [r for r in self.trained if r.protocol.variant.name == SEARCHED.name]
        arms = map(Arm.of, by_protocol(own).values())
        return min(arms, key=lambda arm: arm.error)

    @property
    def choice(self) -> Arm:
        """The activation of the network in `best.keras`; of a VAF, the best trial."""
        chosen = choose(self.reports)
        return self.best if chosen.name == SEARCHED.name else chosen

    @property
    def advice(self) -> str:
        """Two sentences: the model to use with its evidence, and the next step."""
        more = f"Next, try more trials: `--trials {2 * len(self.trials)}`."
        return advice(self.reports, more)

    @property
    def metric(self) -> str:
        """Name of the score."""
        return self.trained[0].protocol.metric

    @property
    def direction(self) -> Literal["min", "max"]:
        """`"max"` if higher scores are better, else `"min"`."""
        return direction_of(self.metric)


def search(
    data: Dataset | str | os.PathLike[str] | pandas.DataFrame,
    trials: int = TRIALS,
    tuner: str = "random",
    baselines: Sequence[Variant] = FIXED,
    folds: int = FOLDS,
    hidden: tuple[int, ...] = (100, 50),
    epochs: int = recipe.EPOCHS,
    seed: int = 0,
    missing: Literal["mean", "drop"] | None = None,
    output: str = "runs",
    on_progress: OnProgress = lambda done, total: None,
    target: str | None = None,
) -> Search:
    """Search k, g, sharing, initialization and learning rate of a VAF on a dataset.

    The search is a comparison whose VAF has drawn values. Each trial is trained by the
    recipe, on the folds of the other activations. In each fold, the trial with the best
    validation score is tested. If the function is called again, it trains only what is
    missing, so that an interrupted search can be continued.

    Args:
        data: A `Dataset`, a pandas `DataFrame`, or the path of a table, as in
            `keras_vaf.datasets.read_table`. Inputs have one axis.
        trials: Number of trials of the VAF. Each other activation has as many
            trainings in a fold, or up to five more: all learning rates from equally
            many starts.
        tuner: A key of `TUNERS`. Hyperband runs 6, 23 or 70 trials, at most `trials`.
            Each of its trials starts from new weights.
        baselines: The other activations. The first one is the baseline.
        folds: Number of folds.
        hidden: Widths of the hidden layers.
        epochs: Largest number of epochs.
        seed: Seed of folds, initial weights and trials.
        missing: As in `comparison_protocols`.
        output: Folder for all files.
        on_progress: Function called with the numbers of finished trainings and of all
            trainings, at the beginning and about twice per second.
        target: Name of the column to predict, for a `DataFrame` or a path.

    Returns:
        The reports, the trials, and the folder of the files.

    Raises:
        ValueError: As in `compare`, or if there are too few trials.
        ImportError: If KerasTuner is not installed.
        OSError: If the folder cannot be written to.
        RuntimeError: If too many consecutive trials failed.

    Example:

    ```python
    found = keras_vaf.tuners.search(frame, target="price")
    print(found.table, found.advice, sep="\n")
    found.best_model.summary()
    ```
    """
    trials = number_of_trials(tuner, trials)
    dataset = as_dataset(data, target)
    vaf, *others = comparison_protocols(
        dataset,
        (SEARCHED, *baselines),
        hidden=hidden,
        learning_rates=LEARNING_RATES,
        epochs=epochs,
        folds=folds,
        missing=missing,
        references=True,
        starts=math.ceil(trials / len(LEARNING_RATES)),
    )
    check_comparison(dataset, [vaf, *others], [seed])
    name = folder_name([vaf, *others], [seed], [tuner, str(trials)])
    folder = Path(output) / f"search-{name}"
    check_writable(folder)
    drawing = cell_tuner(tuner, trials, vaf, folder, seed)
    store = Store(Path(output) / "cells")
    study = _Study(dataset, store, seed, on_progress)
    study.plan(folds * (trials - len(drawing.oracle.end_order)), others)
    drawing.search_cells(study.train_trials)
    trained = study.train([*others, *drawing.protocols()])
    joined, moved = tuple(with_all_trials(trained)), tuple(study.set_aside)
    rows = len(usable_rows(dataset, vaf.preprocessing.missing))
    results = tuple(drawing.results())
    found = Search(joined, folder, moved, rows, trained, results)
    write_comparison(found, trained, dataset)
    _write_trials(found)
    return found


class _Study:
    """Trains the missing cells of protocols, and counts the trainings.

    Args:
        dataset: The data.
        store: Store of the reports.
        seed: Seed of all cells.
        on_progress: As for `search`.
    """

    def __init__(
        self,
        dataset: Dataset,
        store: Store,
        seed: int,
        on_progress: OnProgress,
    ) -> None:
        self._dataset, self._store, self._seed = dataset, store, seed
        self._on_progress = on_progress
        self._trainers = Trainers(self._show)
        self._done = self._total = 0
        self._each = 1  # trainings of a cell
        self.set_aside: list[Path] = []

    def plan(self, trainings: int, protocols: Sequence[Protocol]) -> None:
        """Note how many trainings there will be.

        Args:
            trainings: Number of trainings of the trials that are left.
            protocols: The other protocols.
        """
        planned = sum(protocol.trials * protocol.folds for protocol in protocols)
        self._total = trainings + planned - self._finished(protocols)
        self._show()

    def train_trials(self, protocols: Sequence[Protocol]) -> tuple[Report, ...]:
        """Train the missing cells of trials, and return the reports of all cells."""
        self._total -= self._finished(protocols)
        return self.train(protocols)

    def train(self, protocols: Sequence[Protocol]) -> tuple[Report, ...]:
        """Train the missing cells of protocols, and return the reports of all cells."""
        self._each = max(protocol.trials for protocol in protocols)
        self._show()
        where = self._dataset, self._store, self._count
        run = train_missing(protocols, [self._seed], *where, self._trainers)
        self.set_aside += run.set_aside
        return run.reports

    def _finished(self, protocols: Sequence[Protocol]) -> int:
        """Return the number of finished trainings of protocols."""
        found, moved = self._store.collect(cells(protocols, [self._seed]))
        self.set_aside += moved
        return sum(len(report.trials) for report in found)

    def _count(self, trained: Iterable[Any], total: int) -> Iterator[Any]:
        for report in trained:
            self._done += len(report.trials)
            self._show()
            yield report

    def _show(self, cells: float = 0.0) -> None:
        self._on_progress(self._done + cells * self._each, self._total)


def _write_trials(found: Search) -> None:
    """Write the table and the figures of the trials."""
    write_atomically(found.folder / "trials.csv", to_csv(found.trials))
    for name, draw in (
        ("parallel", figures.parallel_coordinates),
        ("progress", figures.best_so_far),
        ("effects", figures.marginal_effects),
    ):
        picture = png_bytes(draw(found.trials, found.direction), bbox_inches="tight")
        write_atomically(found.folder / f"{name}.png", picture)
