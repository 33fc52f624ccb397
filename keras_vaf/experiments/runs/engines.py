"""Where cells are trained: in this process, or on the workers of a Dask cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import keras

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.runs.training_runs import Arm
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.utils import require

Track = Callable[[Iterable[Any], int], Iterable[Any]]
Outcome = tuple[Report, bytes | None]

HERE = "here"
_DASK = "dask://"
_SECONDS_TO_CONNECT = 10
_MOST_ARMS = 64


def train_cells(
    cells: Sequence[Cell],
    dataset: Dataset,
    store: Store,
    engine: str = HERE,
    track: Track = lambda items, total: items,
) -> None:
    """Train cells, and write each report as soon as it is there.

    What is lost when the process ends are the cells of the batch that is on its way.

    Args:
        cells: What to train.
        dataset: Their data.
        store: Where reports and networks go.
        engine: `"here"`, or `"dask://HOST:PORT"` with the address of a Dask scheduler.
        track: Called with what gives the trained cells one by one, and their number;
            gives the same back, as `rich.progress.track` does.

    Raises:
        ValueError: If there is no such engine, or the workers run on another backend.
        OSError: If a report cannot be written, or no scheduler answers.
        TooLittleMemory: If a protocol's width is too large for the memory.
    """
    batches = batches_of(cells)
    run = _on_dask if engine.startswith(_DASK) else _here
    for report, network in track(
        run(batches, dataset, store.networks, engine), len(cells)
    ):
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
    """Put together the cells that are trained together, in the order of their first.

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


class Arms:
    """Arms that were compiled, for protocols that take turns."""

    def __init__(self) -> None:
        self._arms: dict[str, Arm] = {}

    def of(self, protocol: Protocol, dataset: Dataset) -> Arm:
        """Return the arm of a protocol; the oldest one makes room for a new one."""
        digest = protocol.digest
        if digest not in self._arms:
            if len(self._arms) == _MOST_ARMS:
                del self._arms[next(iter(self._arms))]
            self._arms[digest] = Arm(protocol, dataset)
        return self._arms[digest]


_ARMS_OF_WORKER = Arms()


def train_batch(
    batch: Sequence[Cell],
    dataset: Dataset,
    networks: bool,
    arms: Arms = _ARMS_OF_WORKER,
) -> list[Outcome]:
    """Train the cells of one batch, in whichever process this is.

    Args:
        batch: Cells of one protocol.
        dataset: Their data.
        networks: Whether the networks are wanted.
        arms: Where compiled arms are kept; by default, for as long as the process is.

    Returns:
        The report of each cell, and the content of its network's `.keras` file.
    """
    arm = arms.of(batch[0].protocol, dataset)
    return [
        (report, _to_bytes(model) if networks else None)
        for report, model in arm.run(batch)
    ]


def _here(
    batches: list[list[Cell]], dataset: Dataset, networks: bool, engine: str
) -> Iterator[Outcome]:
    arms = Arms()
    for batch in batches:
        yield from train_batch(batch, dataset, networks, arms)


def _on_dask(
    batches: list[list[Cell]], dataset: Dataset, networks: bool, engine: str
) -> Iterator[Outcome]:
    """Send batches to the workers; those of a worker that dies go to another one."""
    joblib = require("joblib", extra="dask")
    distributed = require("distributed", extra="dask")
    address = engine.removeprefix(_DASK)
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
    except OSError as error:
        raise OSError(f"No Dask scheduler answers at {address!r}.") from error
    with client, joblib.parallel_config("dask", client=client, n_jobs=-1):
        parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered")
        work = joblib.delayed(train_batch)
        for outcomes in parallel(work(batch, dataset, networks) for batch in batches):
            yield from outcomes


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
