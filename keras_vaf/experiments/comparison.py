"""Arms trained on the same folds, and what is written about them."""

from __future__ import annotations

import hashlib
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import keras

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report, validation_loss, write_reports
from keras_vaf.experiments.reports.store import Shard, Store, file_name
from keras_vaf.experiments.results.comparison_figure import comparison_figure, png
from keras_vaf.experiments.results.comparison_table import by_arm, markdown
from keras_vaf.experiments.runs.engines import HERE, Track, check_engine
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.utils import require, write_atomically


@dataclass(frozen=True)
class Comparison:
    """What `compare` did.

    Attributes:
        reports: One report per cell that is trained, those of earlier runs included.
        missing: Number of cells that other shards have to train.
        folder: Where `report.json`, `table.md`, `comparison.png` and `best.keras` are,
            if nothing is missing.
        set_aside: Files that were no reports of their cells, under their new names.
    """

    reports: tuple[Report, ...]
    missing: int
    folder: Path
    set_aside: tuple[Path, ...]

    @property
    def best(self) -> Report:
        """Report of the network in `best.keras`."""
        return best_report(self.reports)


def compare(
    dataset: Dataset,
    protocols: Sequence[Protocol],
    seeds: Sequence[int] = (0,),
    output: str | os.PathLike[str] = "runs",
    engine: str = HERE,
    shard: Shard | None = None,
    track: Track = lambda items, total: items,
) -> Comparison:
    """Train every protocol on the same folds, and write reports, table and picture.

    Each cell is written as soon as it is done. Called again, `compare` trains only
    what is missing, so that an interrupted run goes on from where it was. If the memory
    is too small, the run goes on with half as many networks at a time, and says so.

    Args:
        dataset: The data.
        protocols: What to compare; the first one is what the others are held against.
        seeds: Seeds; every seed draws its own folds and starts.
        output: Folder for all that is written.
        engine: Where to train: `"here"`, or `"dask://HOST:PORT"`.
        shard: Train the cells of this shard alone. The table is made by the run that
            finds all cells in its folder.
        track: Called with what gives the trained cells one by one, and their number;
            gives the same back, as `rich.progress.track` does.

    Returns:
        The reports, and where everything is.

    Raises:
        ValueError: If the data do not allow the folds, or a network cannot be built, or
            there is no such engine.
        OSError: If the folder cannot be written to.
    """
    require("matplotlib", extra="experiments")  # now, not after the training
    check_engine(engine)
    for protocol in protocols:
        ProtocolTrainer(protocol, dataset).check()
    folder = Path(output) / _folder_name(protocols, seeds)
    _check_writable(folder if shard is None else Path(output))
    store = Store(Path(output) / "cells")
    run = train_missing(protocols, seeds, dataset, store, engine, shard, track)
    comparison = Comparison(run.reports, run.missing, folder, run.set_aside)
    if not comparison.missing:
        _write(comparison, store)
    return comparison


def _write(comparison: Comparison, store: Store) -> None:
    reports, folder = comparison.reports, comparison.folder
    network = store.network_path(comparison.best.cell).read_bytes()
    write_reports(folder / "report.json", reports)
    write_atomically(folder / "table.md", markdown(reports))
    write_atomically(folder / "comparison.png", png(comparison_figure(reports)))
    write_atomically(folder / "best.keras", network)


def best_report(reports: Sequence[Report]) -> Report:
    """Return the report of the network that is worth keeping, by validation alone.

    It is the best fold of the arm with the lowest mean validation loss; test scores
    take no part.

    Args:
        reports: The reports of a comparison.

    Returns:
        One of them.
    """

    arms = by_arm(reports).values()
    losses = [statistics.fmean(map(validation_loss, arm)) for arm in arms]
    return min(list(arms)[losses.index(min(losses))], key=validation_loss)


def _folder_name(protocols: Sequence[Protocol], seeds: Sequence[int]) -> str:
    parts = [keras.backend.backend(), *(p.digest for p in protocols), *map(str, seeds)]
    digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()[:8]
    return f"{file_name(protocols[0].dataset)}-{digest}"


def _check_writable(folder: Path) -> None:
    """Fail now rather than after the first training."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
