"""One report per training: what was done, where, and what came out."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import platform
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import keras

import keras_vaf
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.utils import write_atomically

FORMAT = 1
"""Version of the report files; a file of another version is redone."""


@dataclass(frozen=True)
class Report:
    """The outcome of one cell.

    Attributes:
        protocol: What was trained, and how.
        seed: Seed of folds, inner split and starts.
        fold: The test fold, counted from 0.
        rows: Number of rows for `"train"`, `"validation"` and `"test"`.
        scores: Scores on the test rows, by name of the metric.
        baseline: Scores of the constant predictor (majority class, or mean of the
            training targets) on the same rows.
        validation: Loss and scores on the validation rows at the best epoch.
        epochs: Epochs that were run.
        best_epoch: Epoch whose weights were kept; 0 if no epoch had a finite loss.
        stopped: Why training ended: `"epochs"`, `"patience"` or `"not finite"`.
        parameters: Number of trained parameters.
        seconds: Wall-clock time of the training, compilation included.
        curves: `"epoch"`, `"loss"` and `"validation_loss"`, thinned.
        activations: Per trained activation its `"name"`, `"config"`, `"weights"` and
            quantiles of the `"inputs"` that it sees on the training rows.
        environment: Versions, backend, device and precision.
    """

    protocol: Protocol
    seed: int
    fold: int
    rows: dict[str, int]
    scores: dict[str, float]
    baseline: dict[str, float]
    validation: dict[str, float | None]
    epochs: int
    best_epoch: int
    stopped: str
    parameters: int
    seconds: float
    curves: dict[str, list[float | None]]
    activations: list[dict[str, Any]]
    environment: dict[str, Any]

    @property
    def cell(self) -> Cell:
        """The cell that this is the report of."""
        return Cell(self.protocol, self.seed, self.fold)

    @property
    def score(self) -> float:
        """Test score by the protocol's metric."""
        return self.scores[self.protocol.metric]

    def to_dict(self) -> dict[str, Any]:
        """Return what `from_dict` makes into an equal report."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        """Return the report held by `data`.

        Raises:
            ValueError: If `data` is no report of this format.
        """
        try:
            fields = dict(data)
            if fields.pop("format") != FORMAT:
                raise ValueError(f"format {data['format']!r}")
            fields["protocol"] = Protocol.from_dict(fields["protocol"])
            return cls(**fields)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(
                f"Expected a report of format {FORMAT}. Received: {error!r}"
            ) from error


@dataclass(frozen=True)
class Store:
    """A folder of reports, one file per cell.

    The path of a file names backend, data, variant, widths and the protocol's hash, so
    that what was done otherwise never mixes.
    """

    root: Path

    def path(self, cell: Cell) -> Path:
        """Return the file of a cell's report."""
        protocol = cell.protocol
        hidden = "-".join(map(str, protocol.hidden))
        arm = f"{protocol.variant.name}-{hidden}-{protocol.digest}"
        folder = self.root / keras.backend.backend() / file_name(protocol.dataset) / arm
        return folder / f"seed-{cell.seed}-fold-{cell.fold:02d}.json"

    def model_path(self, cell: Cell) -> Path:
        """Return the file of a cell's trained network."""
        return self.path(cell).with_suffix(".keras")

    def write(self, report: Report, model: keras.Model) -> None:
        """Write the network, then the report, each of them whole or not at all."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.keras"
            model.save(file)
            write_atomically(self.model_path(report.cell), file.read_bytes())
        write_atomically(self.path(report.cell), _to_json(report.to_dict()))

    def read(self, cell: Cell) -> Report | None:
        """Return a cell's report, or `None` if report or network are missing.

        Raises:
            ValueError: If the file is torn, or another cell's.
        """
        path = self.path(cell)
        if not (path.is_file() and self.model_path(cell).is_file()):
            return None
        report = Report.from_dict(json.loads(path.read_bytes()))
        if self.path(report.cell) != self.path(cell):
            raise ValueError(f"Expected the report of {cell}. Received: {report.cell}")
        return report

    def collect(self, cells: Iterable[Cell]) -> tuple[list[Report], list[Path]]:
        """Return the reports there are, and where unusable files were moved to.

        Args:
            cells: The cells to look for.

        Returns:
            Their reports, and the new names of files that are torn or foreign.
        """
        reports, set_aside = [], []
        for cell in cells:
            try:
                report = self.read(cell)
            except ValueError:
                set_aside.append(_set_aside(self.path(cell)))
            else:
                reports += [report] if report else []
        return reports, set_aside


def write_reports(path: Path, reports: Sequence[Report]) -> None:
    """Write many reports into one file, one line each."""
    lines = ",\n".join(json.dumps(report.to_dict()) for report in reports)
    write_atomically(path, f"[\n{lines}\n]\n")


def read_reports(path: str | os.PathLike[str]) -> list[Report]:
    """Read a file of many reports, such as the `report.json` of a comparison.

    Args:
        path: The file.

    Returns:
        The reports, from which tables and pictures can be made again.

    Raises:
        ValueError: If the file is torn, or something else.
        FileNotFoundError: If there is no such file.
    """
    return [Report.from_dict(data) for data in json.loads(Path(path).read_bytes())]


def validation_loss(report: Report) -> float:
    """Return the loss by which the best epoch was chosen; infinite if there is none."""
    loss = report.validation["loss"]
    return math.inf if loss is None else loss


def environment() -> dict[str, Any]:
    """Return what a reader needs to repeat a run: versions, backend, device."""
    backend = keras.backend.backend()
    packages = {"keras_vaf": keras_vaf, "keras": keras}
    packages |= {name: importlib.import_module(name) for name in ("numpy", backend)}
    versions = {name: module.__version__ for name, module in packages.items()}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "backend": backend,
        "device": str(keras.ops.zeros(()).device).rpartition("device:")[2].lower(),
        "precision": keras.config.dtype_policy().name,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }


def file_name(text: str) -> str:
    """Return `text` with everything that is awkward in a file name replaced."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "data"


def _to_json(data: dict[str, Any]) -> str:
    """Return JSON with one line per field, which people can read."""
    lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in data.items())
    return f"{{\n{lines}\n}}\n"


def _set_aside(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.aside-{n}") for n in itertools.count(1))
    return path.rename(next(name for name in names if not name.exists()))
