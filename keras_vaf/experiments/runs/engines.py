"""Train cells in this process or on a Dask cluster: `train_cells`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.utils import require

Track = Callable[[Iterable[Any], int], Iterable[Any]]
TrainedCell = tuple[Report, bytes | None]

HERE = "here"
_DASK = "dask://"
_SECONDS_TO_CONNECT = 10
_SECONDS_WITHOUT_WORKERS = 60
_SECONDS_TO_POLL = 0.1
_MOST_TRAINERS = 64


def train_cells(
    cells: Sequence[Cell],
    dataset: Dataset,
    store: Store,
    engine: str = HERE,
    track: Track = lambda items, total: items,
    trainers: Trainers | None = None,
) -> None:
    """Train cells, and write each report as soon as it is there.

    If the process ends early, only the cells of the batch in progress are lost.

    Args:
        cells: What to train.
        dataset: Their data.
        store: Where reports and networks go.
        engine: `"here"`, or `"dask://HOST:PORT"` with the address of a Dask scheduler.
        track: Called with an iterable of the trained cells, and their number; returns
            the same iterable, as `rich.progress.track` does.
        trainers: Compiled trainers of earlier cells of this process.

    Raises:
        ValueError: If the workers run on another backend.
        OSError: If a report cannot be written, or no scheduler answers.
        TooLittleMemory: If a protocol's width is too large for the memory.
    """
    batches = batches_of(cells)
    if engine.startswith(_DASK):
        trained = _on_dask(batches, dataset, store.networks, engine)
    else:
        trained = _here(batches, dataset, store.networks, trainers or Trainers())
    for report, network in track(trained, len(cells)):
        _check_backend(report)
        store.write(report, network)


def check_engine(engine: str) -> None:
    """Raise a `ValueError` unless there is such an engine."""
    if engine != HERE and not engine.startswith(_DASK):
        raise ValueError(
            f"`engine` must be {HERE!r}, or {_DASK}HOST:PORT with the address of a "
            f"Dask scheduler. Received: {engine!r}"
        )


def batches_of(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the batches of cells that are trained together, by their first cell.

    Args:
        cells: Cells of any protocols.

    Returns:
        Batches of cells of one protocol each, as many as the protocol takes at once.
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


class Trainers:
    """Compiled trainers, for protocols that take turns."""

    def __init__(self) -> None:
        self._trainers: dict[str, ProtocolTrainer] = {}

    def of(self, protocol: Protocol, dataset: Dataset) -> ProtocolTrainer:
        """Return the trainer of a protocol; a new one may replace the oldest one.

        Protocols that differ in their learning rates alone share a compiled program.
        """
        program = replace(protocol, rates=()).digest
        if program not in self._trainers:
            if len(self._trainers) == _MOST_TRAINERS:
                del self._trainers[next(iter(self._trainers))]
            self._trainers[program] = ProtocolTrainer(protocol, dataset)
        return self._trainers[program].of(protocol)


_TRAINERS_OF_WORKER = Trainers()


def train_batch(
    batch: Sequence[Cell],
    dataset: Dataset,
    networks: bool,
    trainers: Trainers = _TRAINERS_OF_WORKER,
) -> list[TrainedCell]:
    """Train the cells of one batch in this process.

    Args:
        batch: Cells of one protocol.
        dataset: Their data.
        networks: Whether to return the networks.
        trainers: Compiled trainers; by default, they last as long as the process.

    Returns:
        The report of each cell, and the content of its network's `.keras` file.
    """
    trainer = trainers.of(batch[0].protocol, dataset)
    return [
        (report, _to_bytes(model) if networks else None)
        for report, model in trainer.run(batch)
    ]


def _here(
    batches: list[list[Cell]], dataset: Dataset, networks: bool, trainers: Trainers
) -> Iterator[TrainedCell]:
    for batch in batches:
        yield from train_batch(batch, dataset, networks, trainers)


def _on_dask(
    batches: list[list[Cell]], dataset: Dataset, networks: bool, engine: str
) -> Iterator[TrainedCell]:
    """Send batches to the workers; another worker takes those of a stopped one."""
    distributed = require("distributed", extra="dask")
    address = engine.removeprefix(_DASK)
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
    except OSError as error:
        raise OSError(f"No Dask scheduler answers at {address!r}.") from error
    with client:
        # The result of a task, unlike scattered data, outlives the worker that has it.
        data = client.submit(_same, dataset, pure=False)
        waiting = {
            client.submit(train_batch, batch, data, networks, pure=False)
            for batch in batches
        }
        while waiting:
            done = _finished(client, waiting, address)
            waiting -= done
            for future in done:
                try:
                    trained = future.result()
                except (distributed.KilledWorker, distributed.CancelledError) as error:
                    raise OSError(
                        f"The Dask cluster at {address!r} lost the workers of a "
                        "training. Every finished training is kept; start the cluster "
                        "and run this again."
                    ) from error
                yield from trained


def _same(dataset: Dataset) -> Dataset:
    return dataset


def _finished(client: Any, waiting: set[Any], address: str) -> set[Any]:
    """Wait until tasks have ended, and return them.

    Raises:
        OSError: If the scheduler is lost, or has no worker for a while.
    """
    since = time.monotonic()
    while True:
        done = {future for future in waiting if future.done()}
        workers = _workers(client)
        if workers is None:
            raise OSError(
                f"The connection to the Dask scheduler at {address!r} was lost. Every "
                "finished training is kept; start the cluster and run this again."
            )
        if done:
            return done
        if workers:
            since = time.monotonic()
        elif time.monotonic() - since > _SECONDS_WITHOUT_WORKERS:
            raise OSError(
                f"The Dask cluster at {address!r} has had no worker for "
                f"{_SECONDS_WITHOUT_WORKERS} seconds. Every finished training is kept; "
                "start workers and run this again."
            )
        time.sleep(_SECONDS_TO_POLL)


def _workers(client: Any) -> int | None:
    """Return the number of workers, or `None` if the scheduler does not answer."""
    try:
        workers = len(client.scheduler_info()["workers"])
    except OSError:
        return None
    return workers if client.status == "running" else None


def _check_backend(report: Report) -> None:
    backend = keras.backend.backend()
    if report.environment["backend"] != backend:
        raise ValueError(
            f"The workers must run on {backend} as this process does: start them with "
            f"KERAS_BACKEND={backend}. Received: a report made on "
            f"{report.environment['backend']}"
        )


def _to_bytes(model: keras.Model) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.keras"
        model.save(file)
        return file.read_bytes()
