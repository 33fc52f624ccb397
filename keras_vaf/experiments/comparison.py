"""`compare`, the cross-validated comparison of activations, and its files."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import keras

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.best import Choice, choose, refit
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.report_files import write_reports
from keras_vaf.experiments.reports.store import Shard, Store, file_name
from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.comparison_table import comparison_table
from keras_vaf.experiments.results.verdict import verdict
from keras_vaf.experiments.runs.cells import Track
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.models.files import load_model
from keras_vaf.utils import (
    atomic_path,
    check_seeds,
    png_bytes,
    require,
    set_aside,
    write_atomically,
)
from keras_vaf.utils.engines import HERE, check_engine, open_engine


@dataclass(frozen=True)
class Comparison:
    """The reports of a comparison, and its files.

    Attributes:
        reports: One report per trained cell, including those of earlier runs.
        missing: Number of cells that other shards must train.
        folder: Folder of `report.json`, `table.md`, `comparison.png` and `best.keras`.
            These files are written when no cell is missing.
        set_aside: New names of files that were not valid reports of their cells.
    """

    reports: tuple[Report, ...]
    missing: int
    folder: Path
    set_aside: tuple[Path, ...]

    @property
    def choice(self) -> Choice:
        """The activation of the network in `best.keras`, with the reason."""
        return choose(self.reports)

    @property
    def verdict(self) -> str:
        """The result of the comparison, as a sentence."""
        return verdict(self.reports)


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

    The report of a cell is written as soon as the cell is trained. If `compare` is
    called again, it trains only the missing cells, so that an interrupted run can be
    continued. If the memory is too small, `compare` warns and trains half as many
    networks at once.

    Args:
        dataset: The data.
        protocols: The protocols to compare. The first protocol is the baseline.
        seeds: Different seeds. Each seed draws other folds and initial weights.
        output: Folder for all files.
        engine: Where networks are trained: `"here"` for this process, `"processes:N"`
            for N processes of this machine, or `"dask://HOST:PORT"`.
        shard: Train only the cells of this shard. A run that finds all cells in its
            folder writes the table.
        track: Function that takes an iterable of the trained cells and their number and
            returns the same iterable, like `rich.progress.track`.

    Returns:
        The reports, and the folder of the files.

    Raises:
        ValueError: If the data cannot be split into the folds, if a network cannot be
            built, if a seed or a protocol occurs twice, or if the engine is unknown.
        OSError: If the folder cannot be written to.
    """
    require("matplotlib", extra="experiments")  # before the training
    check_engine(engine)
    check_seeds("seeds", seeds)
    for protocol in protocols:
        ProtocolTrainer(protocol, dataset).check()
    folder = Path(output) / _folder_name(protocols, seeds)
    _check_writable(folder if shard is None else Path(output))
    store = Store(Path(output) / "cells")
    with open_engine(engine) as opened:
        run = train_missing(protocols, seeds, dataset, store, opened, shard, track)
    comparison = Comparison(run.reports, run.missing, folder, run.set_aside)
    if not comparison.missing:
        _write(comparison, dataset)
    return comparison


def _write(comparison: Comparison, dataset: Dataset) -> None:
    reports, folder = comparison.reports, comparison.folder
    write_reports(folder / "report.json", reports)
    markdown = comparison_table(reports).markdown
    write_atomically(folder / "table.md", f"{markdown}\n{comparison.verdict}\n")
    picture = png_bytes(comparison_figure(reports), bbox_inches="tight")
    write_atomically(folder / "comparison.png", picture)
    best = folder / "best.keras"
    # The name of the folder depends on all settings that determine the network.
    if not _loads(best):
        network = refit(comparison.choice.arm, dataset)
        with atomic_path(best) as temporary:
            network.save(temporary)


def _loads(path: Path) -> bool:
    """Return whether a file contains a network. Any other file is renamed."""
    if not path.is_file():
        return False
    try:
        load_model(path)
    except ValueError:
        moved = set_aside(path)
        warnings.warn(
            f"Keras could not load {path}, which is now {moved.name}. The network is "
            "trained again.",
            stacklevel=2,
        )
        return False
    return True


def _folder_name(protocols: Sequence[Protocol], seeds: Sequence[int]) -> str:
    parts = [keras.backend.backend(), *(p.digest for p in protocols), *map(str, seeds)]
    digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()[:8]
    return f"{file_name(protocols[0].dataset)}-{digest}"


def _check_writable(folder: Path) -> None:
    """Raise an error now rather than after the first training."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
