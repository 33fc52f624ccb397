"""Arms trained on the same folds, and what is written about them."""

from __future__ import annotations

import hashlib
import io
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import keras

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.arms import Arm
from keras_vaf.experiments.figures import comparison_figure
from keras_vaf.experiments.protocol import Cell, Protocol, cells
from keras_vaf.experiments.reports import (
    Report,
    Store,
    file_name,
    validation_loss,
    write_reports,
)
from keras_vaf.experiments.tables import by_arm, markdown
from keras_vaf.utils import require, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Track = Callable[[Sequence[Cell]], Iterable[Cell]]


@dataclass(frozen=True)
class Comparison:
    """What `compare` did.

    Attributes:
        reports: One report per cell, those of earlier runs included.
        folder: Where `report.json`, `table.md`, `comparison.png` and `best.keras` are.
        best: Report of the network in `best.keras`.
        set_aside: Files that were no reports of their cells, under their new names.
    """

    reports: tuple[Report, ...]
    folder: Path
    best: Report
    set_aside: tuple[Path, ...]


def compare(
    dataset: Dataset,
    protocols: Sequence[Protocol],
    seeds: Sequence[int] = (0,),
    output: str | os.PathLike[str] = "runs",
    track: Track = iter,
) -> Comparison:
    """Train every protocol on the same folds, and write reports, table and picture.

    Each training is written as soon as it is done. Called again, `compare` trains only
    what is missing, so that an interrupted run goes on from where it was.

    Args:
        dataset: The data.
        protocols: What to compare; the first one is what the others are held against.
        seeds: Seeds; every seed draws its own folds and starts.
        output: Folder for all that is written.
        track: Called with the cells that are to be trained; gives them back one by one,
            as `rich.progress.track` does.

    Returns:
        The reports, and where everything is.

    Raises:
        ValueError: If the data do not allow the folds, or a network cannot be built.
        OSError: If the folder cannot be written to.
    """
    require("matplotlib", extra="experiments")  # now, not after the training
    store = Store(Path(output) / "cells")
    folder = Path(output) / _folder_name(protocols, seeds)
    arms = {protocol.digest: Arm(protocol, dataset) for protocol in protocols}
    for arm in arms.values():
        arm.check()
    _check_writable(folder)
    wanted = cells(protocols, seeds)
    found, set_aside = store.collect(wanted)
    done = {store.path(report.cell): report for report in found}
    missing = [cell for cell in wanted if store.path(cell) not in done]
    for cell in track(missing):
        report, model = arms[cell.protocol.digest].run(cell)
        store.write(report, model)
        done[store.path(cell)] = report
    reports = [done[store.path(cell)] for cell in wanted]
    best = best_report(reports)
    write_reports(folder / "report.json", reports)
    write_atomically(folder / "table.md", markdown(reports))
    write_atomically(folder / "comparison.png", _png(comparison_figure(reports)))
    write_atomically(folder / "best.keras", store.model_path(best.cell).read_bytes())
    return Comparison(tuple(reports), folder, best, tuple(set_aside))


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


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()
