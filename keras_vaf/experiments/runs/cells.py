"""`train_cells`, which trains cells and writes their reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.experiments.runs.references import train_reference
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer

Track = Callable[[Iterable[Any], int], Iterable[Any]]
OnProgress = Callable[[float], None]

_MOST_TRAINERS = 64


class Trainers:
    """A cache of compiled trainers for protocols that take turns.

    Args:
        on_progress: Function called about twice per second while a batch of cells is
            trained, with the number of its cells that would be finished if none
            stopped early, such as 1.5.
    """

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self.on_progress = on_progress
        self._trainers: dict[str, ProtocolTrainer] = {}

    def of(self, protocol: Protocol, dataset: Dataset) -> ProtocolTrainer:
        """Return the trainer of a protocol. A new trainer may replace the oldest one.

        Protocols that differ only in their learning rates share a compiled program.
        """
        program = replace(protocol, rates=()).digest
        if program not in self._trainers:
            if len(self._trainers) == _MOST_TRAINERS:
                del self._trainers[next(iter(self._trainers))]
            self._trainers[program] = ProtocolTrainer(protocol, dataset)
        return self._trainers[program].of(protocol)


def train_cells(
    cells: Sequence[Cell],
    dataset: Dataset,
    store: Store,
    track: Track = lambda items, total: items,
    trainers: Trainers | None = None,
) -> None:
    """Train cells, and write each report as soon as it is available.

    If the process is interrupted, only the cells of the current batches are lost.

    Args:
        cells: The cells to train.
        dataset: The data of the cells.
        store: Store of the reports.
        track: Function that takes an iterable of the trained cells and their number and
            returns the same iterable, like `rich.progress.track`.
        trainers: Compiled trainers of earlier cells.

    Raises:
        OSError: If a report cannot be written.
        TooLittleMemory: If the width of a protocol is too large for the memory.
    """
    trainers = trainers or Trainers()
    trained = (
        each
        for batch in batches_of(cells)
        for each in train_batch(batch, dataset, trainers)
    )
    for report in track(trained, len(cells)):
        store.write(report)


def batches_of(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the batches of cells that are trained together, ordered by first cell.

    Args:
        cells: Cells of any protocols.

    Returns:
        Batches of cells. Each batch has one protocol and at most its `cells_at_once`
        cells.
    """
    batches: list[list[Cell]] = []
    filling: dict[str, list[Cell]] = {}
    for cell in cells:
        digest = cell.protocol.digest
        batch = filling.get(digest)
        if batch is None or len(batch) == cell.protocol.cells_at_once:
            batch = filling[digest] = []
            batches.append(batch)
        batch.append(cell)
    return batches


def train_batch(
    batch: Sequence[Cell], dataset: Dataset, trainers: Trainers
) -> list[Report]:
    """Train the cells of one batch, and return their reports.

    Args:
        batch: Cells of one protocol.
        dataset: Their data.
        trainers: Compiled trainers.
    """
    if batch[0].protocol.is_reference:
        return [train_reference(cell, dataset) for cell in batch]
    trainer = trainers.of(batch[0].protocol, dataset)
    return [report for report, _ in trainer.run(batch, trainers.on_progress)]
