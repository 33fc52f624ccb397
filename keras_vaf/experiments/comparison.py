"""`compare`: cross-validated comparison of activations, and its files."""

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
    check_distinct,
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
        reports: One report per cell that is trained, those of earlier runs included.
        missing: Number of cells that other shards have to train.
        folder: Folder of `report.json`, `table.md`, `comparison.png` and `best.keras`,
            which are written once no cell is missing.
        set_aside: Files that were not reports of their cells, under their new names.
    """

    reports: tuple[Report, ...]
    missing: int
    folder: Path
    set_aside: tuple[Path, ...]

    @property
    def choice(self) -> Choice:
        """The activation of the network in `best.keras`, and why it is this one."""
        return choose(self.reports)

    @property
    def verdict(self) -> str:
        """What the comparison found, in words."""
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

    Each cell is written as soon as it is trained. Called again, `compare` trains only
    the missing cells, so that an interrupted run continues. If the memory is too small,
    `compare` warns and continues with half as many networks at a time.

    Args:
        dataset: The data.
        protocols: The protocols to compare; the others are compared with the first one.
        seeds: Different seeds; every seed draws its own folds and starts.
        output: Folder for all files.
        engine: Where to train: `"here"`, `"processes:N"` of this machine, or
            `"dask://HOST:PORT"`.
        shard: Train only the cells of this shard. The run that finds all cells in its
            folder makes the table.
        track: Called with an iterable of the trained cells, and their number; returns
            the same iterable, as `rich.progress.track` does.

    Returns:
        The reports, and the folder of the files.

    Raises:
        ValueError: If the data do not allow the folds, a network cannot be built, a
            seed occurs twice, or the engine is unknown.
        OSError: If the folder cannot be written to.
    """
    require("matplotlib", extra="experiments")  # now, not after the training
    check_engine(engine)
    check_distinct("seeds", seeds)
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
    # The folder's name stands for everything that decides the network.
    if not _loads(best):
        network = refit(comparison.choice.arm, dataset)
        with atomic_path(best) as temporary:
            network.save(temporary)


def _loads(path: Path) -> bool:
    """Tell whether a file holds a network. Another file is set aside."""
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
    """Fail now rather than after the first training."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
