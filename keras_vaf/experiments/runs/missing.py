"""Protocols trained on one dataset: what is missing of them, and no more."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.runs.engines import HERE, Track, train_cells
from keras_vaf.experiments.protocol import Protocol, cells
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Shard, Store
from keras_vaf.training.member import TooLittleMemory


@dataclass(frozen=True)
class Run:
    """What `train_missing` did.

    Attributes:
        reports: One report per cell that is trained, those of earlier runs included.
        missing: Number of cells that other shards have to train.
        set_aside: Files that were no reports of their cells, under their new names.
    """

    reports: tuple[Report, ...]
    missing: int
    set_aside: tuple[Path, ...]


def train_missing(
    protocols: Sequence[Protocol],
    seeds: Sequence[int],
    dataset: Dataset,
    store: Store,
    engine: str = HERE,
    shard: Shard | None = None,
    track: Track = lambda items, total: items,
) -> Run:
    """Train the cells of protocols that have no report yet.

    If the memory is too small, the run goes on with half as many networks at a time,
    which is another protocol, and says so.

    Args:
        protocols: What to train.
        seeds: Seeds; every seed draws its own folds and starts.
        dataset: The data of all protocols.
        store: Where reports and networks are.
        engine: As in `train_cells`.
        shard: Train the cells of this shard alone.
        track: As in `train_cells`.

    Returns:
        All reports there are.
    """
    wanted = cells(protocols, seeds)
    found, set_aside = store.collect(wanted)
    done = {store.path(report.cell) for report in found}
    missing = [
        cell
        for cell in wanted
        if store.path(cell) not in done and (shard is None or shard.has(store, cell))
    ]
    try:
        train_cells(missing, dataset, store, engine, track)
    except TooLittleMemory as reason:
        narrow = narrower(protocols, reason)
        again = train_missing(narrow, seeds, dataset, store, engine, shard, track)
        return replace(again, set_aside=(*set_aside, *again.set_aside))
    reports, _ = store.collect(wanted)
    return Run(tuple(reports), len(wanted) - len(reports), tuple(set_aside))


def narrower(protocols: Sequence[Protocol], reason: TooLittleMemory) -> list[Protocol]:
    """Halve the width of the widest protocols, and say so.

    Args:
        protocols: The protocols, of which one was too wide for the memory.
        reason: What it needed.

    Returns:
        The same, but for `replicas`.
    """
    widest = max(protocol.replicas for protocol in protocols)
    warnings.warn(
        f"A batch of {widest} networks {reason}: training {widest // 2} at a time.",
        stacklevel=3,
    )
    return [
        replace(protocol, replicas=min(protocol.replicas, widest // 2))
        for protocol in protocols
    ]
