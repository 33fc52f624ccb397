"""`Store`, a folder of reports with one file per cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import keras

from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.reports.report import Report
from keras_vaf.utils import parse_json, set_aside, write_atomically


@dataclass(frozen=True)
class Store:
    """A folder of reports, with one file per cell.

    The path of a file contains the backend, data, variant, widths and hash of the
    protocol, so that reports of different protocols are kept apart.

    Attributes:
        root: The folder.
    """

    root: Path

    def path(self, cell: Cell, backend: str | None = None) -> Path:
        """Return the path of a cell's report.

        Args:
            cell: The cell.
            backend: Name of the backend; `None` for the current backend.
        """
        protocol = cell.protocol
        hidden = "-".join(map(str, protocol.hidden))
        arm = f"{protocol.variant.name}-{hidden}-{protocol.digest}"
        backend = backend or keras.backend.backend()
        folder = self.root / backend / file_name(protocol.dataset) / arm
        return folder / f"seed-{cell.seed}-fold-{cell.fold:02d}.json"

    def write(self, report: Report) -> None:
        """Write a report atomically.

        Args:
            report: The report.

        Raises:
            OSError: If the file cannot be written. The error names the file.
        """
        path = self.path(report.cell, report.environment["backend"])
        write_atomically(path, _to_json(report))

    def read(self, cell: Cell) -> Report | None:
        """Return a cell's report, or `None` if it is missing.

        Raises:
            ValueError: If the file is incomplete or belongs to another cell.
        """
        path = self.path(cell)
        if not path.is_file():
            return None
        report = Report.from_dict(parse_json(path.read_bytes()))
        if self.path(report.cell) != path:
            raise ValueError(f"Expected the report of {cell}. Received: {report.cell}")
        return report

    def collect(self, cells: Iterable[Cell]) -> tuple[list[Report], list[Path]]:
        """Return the reports of cells, and rename unusable files.

        Args:
            cells: The cells.

        Returns:
            Their reports, and the new names of files that were incomplete or belonged
            to other cells.
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


def file_name(text: str) -> str:
    """Return `text` as a file name, with all special characters replaced."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "data"


def _to_json(report: Report) -> str:
    """Return JSON text with one line per field, for readability."""
    fields = report.to_dict().items()
    lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in fields)
    return f"{{\n{lines}\n}}\n"
