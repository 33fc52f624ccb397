"""`train_missing`, which trains the missing cells of protocols on one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol, cells
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.experiments.runs.cells import Track, Trainers, train_cells
from keras_vaf.training.network_trainer import halved
from keras_vaf.training.runs import TooLittleMemory


@dataclass(frozen=True)
class Run:
    """Result of `train_missing`.

    Attributes:
        reports: One report per trained cell, including those of earlier runs.
        set_aside: New names of files that were not valid reports of their cells.
    """

    reports: tuple[Report, ...]
    set_aside: tuple[Path, ...]


def train_missing(
    protocols: Sequence[Protocol],
    seeds: Sequence[int],
    dataset: Dataset,
    store: Store,
    track: Track = lambda items, total: items,
    trainers: Trainers | None = None,
) -> Run:
    """Train the cells of protocols that have no report yet.

    If the memory is too small, the function warns and trains half as many networks at
    once, which defines a new protocol.

    Args:
        protocols: The protocols.
        seeds: Seeds. Each seed draws other folds and initial weights.
        dataset: The data of all protocols.
        store: Store of the reports.
        track: As in `train_cells`.
        trainers: As in `train_cells`.
    """
    wanted = cells(protocols, seeds)
    found, set_aside = store.collect(wanted)
    done = {store.path(report.cell) for report in found}
    missing = [cell for cell in wanted if store.path(cell) not in done]
    try:
        train_cells(missing, dataset, store, track, trainers)
    except TooLittleMemory as reason:
        narrow = narrower(protocols, reason)
        again = train_missing(narrow, seeds, dataset, store, track)
        return replace(again, set_aside=(*set_aside, *again.set_aside))
    reports, _ = store.collect(wanted)
    return Run(tuple(reports), tuple(set_aside))


def narrower(protocols: Sequence[Protocol], reason: TooLittleMemory) -> list[Protocol]:
    """Halve the width of the widest protocols, and issue a warning.

    Args:
        protocols: The protocols, one of which was too wide for the memory.
        reason: The error for the lack of memory.

    Returns:
        The protocols with smaller `replicas`.
    """
    width = halved(max(protocol.replicas for protocol in protocols), reason)
    return [
        replace(protocol, replicas=min(protocol.replicas, width))
        for protocol in protocols
    ]
