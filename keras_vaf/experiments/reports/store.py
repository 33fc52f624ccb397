"""`Store`: a folder of reports, one file per cell."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import keras

from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.reports.report import Report
from keras_vaf.utils import parse_json, set_aside, write_atomically

_HDF5 = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True)
class Store:
    """A folder of reports, one file per cell, and of their networks.

    The path of a file names backend, data, variant, widths and the protocol's hash, so
    that reports of different protocols never mix.

    Attributes:
        root: The folder.
        networks: Whether the trained networks are stored next to the reports.
    """

    root: Path
    networks: bool = True

    def path(self, cell: Cell, backend: str | None = None) -> Path:
        """Return the file of a cell's report.

        Args:
            cell: The cell.
            backend: Name of the backend; `None` is the one that Keras runs on.
        """
        protocol = cell.protocol
        hidden = "-".join(map(str, protocol.hidden))
        arm = f"{protocol.variant.name}-{hidden}-{protocol.digest}"
        backend = backend or keras.backend.backend()
        folder = self.root / backend / file_name(protocol.dataset) / arm
        return folder / f"seed-{cell.seed}-fold-{cell.fold:02d}.json"

    def network_path(self, cell: Cell) -> Path:
        """Return the file of a cell's trained network."""
        return self.path(cell).with_suffix(".keras")

    def write(self, report: Report, network: bytes | None = None) -> None:
        """Write the network, then the report, each atomically.

        Args:
            report: The report.
            network: The content of a `.keras` file; `None` writes the report alone.

        Raises:
            OSError: If a file cannot be written; its name is in the error.
        """
        if network is not None:
            write_atomically(self.network_path(report.cell), network)
        write_atomically(self.path(report.cell), _to_json(report))

    def read(self, cell: Cell) -> Report | None:
        """Return a cell's report, or `None` if report or network are missing.

        A network whose file is incomplete, or is not one of Keras, counts as missing.

        Raises:
            ValueError: If the file is incomplete, or another cell's.
        """
        path = self.path(cell)
        if not path.is_file():
            return None
        if self.networks and not _is_whole(self.network_path(cell)):
            return None
        report = Report.from_dict(parse_json(path.read_bytes()))
        if self.path(report.cell) != path:
            raise ValueError(f"Expected the report of {cell}. Received: {report.cell}")
        return report

    def collect(self, cells: Iterable[Cell]) -> tuple[list[Report], list[Path]]:
        """Return the reports of cells, and rename unusable files.

        Args:
            cells: The cells to look for.

        Returns:
            Their reports, and the new names of files that are incomplete or another
            cell's.
        """
        reports, moved = [], []
        for cell in cells:
            try:
                report = self.read(cell)
            except ValueError:
                moved.append(set_aside(self.path(cell)))
            else:
                reports += [report] if report else []
        return reports, moved


@dataclass(frozen=True)
class Shard:
    """A part of a run. The hash of a cell's path decides to which shard it belongs.

    Attributes:
        number: Number of the shard, counted from 1.
        count: Number of shards.

    Raises:
        ValueError: If `number` is not between 1 and `count`.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse numbers that are out of range."""
        if not 1 <= self.number <= self.count:
            raise ValueError(
                "A shard is its number and how many there are, such as 1/4: the number "
                f"is at least 1 and at most 4. Received: {self.number}/{self.count}"
            )

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text such as `"1/4"`.

        Raises:
            ValueError: If the text is not of this form.
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        if match is None:
            raise ValueError(
                "A shard is its number and how many there are, such as 1/4. "
                f"Received: {text!r}"
            )
        return cls(*map(int, match.groups()))

    def has(self, store: Store, cell: Cell) -> bool:
        """Tell whether a cell belongs to this shard; the folder does not matter."""
        path = store.path(cell).relative_to(store.root).as_posix()
        digest = hashlib.sha256(path.encode()).digest()
        return int.from_bytes(digest[:8]) % self.count == self.number - 1


def file_name(text: str) -> str:
    """Return `text` with all special characters replaced, for use as a file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "data"


def _is_whole(path: Path) -> bool:
    """Tell whether a `.keras` file is complete, without the time that loading takes.

    The file is a ZIP archive of a configuration in JSON and weights in HDF5.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            config = parse_json(archive.read("config.json"))
            weights = archive.read("model.weights.h5")
            intact = archive.testzip() is None
        described = {"class_name", "config"} <= config.keys()
        return intact and described and weights.startswith(_HDF5)
    except Exception:  # `zipfile` raises errors of many classes
        return False


def _to_json(report: Report) -> str:
    """Return JSON with one line per field, for human readers."""
    fields = report.to_dict().items()
    lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in fields)
    return f"{{\n{lines}\n}}\n"
