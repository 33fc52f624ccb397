"""`MapReport`, a report of the map, and `MapStore`, the folder of its files."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from keras_vaf.research.map.task import Settings, Task
from keras_vaf.utils import AnyFloat, build, parse_json, set_aside, write_atomically

FORMAT = "keras_vaf.map.1"


@dataclass(frozen=True)
class LaneResult:
    """The result of one trained network.

    Attributes:
        seed: Seed of the initial weights and the mini-batches.
        rate: Learning rate.
        validation: Validation error at the end of training.
        error: Test error at the end of training.
        more: Other figures of the task, such as a certificate.
    """

    seed: int
    rate: float
    validation: AnyFloat
    error: AnyFloat
    more: dict[str, AnyFloat] = field(default_factory=dict)


@dataclass(frozen=True)
class MapReport:
    """The results of networks of one arm that were trained together.

    Attributes:
        task: Name of the task.
        dataset: Name of the dataset.
        arm: Name of the arm.
        arguments: All fields of the arm.
        settings: Settings of the training, except the number of steps.
        steps: Number of steps of each phase.
        lanes: The results of the networks.
        parameters: Number of trained parameters.
        seconds: Duration of the training in seconds, including compilation.
        environment: Versions, backend and device.
    """

    task: str
    dataset: str
    arm: str
    arguments: dict[str, Any]
    settings: Settings
    steps: int
    lanes: tuple[LaneResult, ...]
    parameters: int
    seconds: float
    environment: dict[str, Any]


@dataclass(frozen=True)
class Times:
    """Time per training step of every arm, measured in turns.

    Attributes:
        task: Name of the task.
        dataset: Name of the dataset.
        settings: Settings of the training.
        seconds: Median time per step of one network in seconds, by arm, without
            compilation.
        compilation: Time of the first step in seconds, by arm.
        load: Number of runnable processes when the measurement began.
        environment: Versions, backend and device.
    """

    task: str
    dataset: str
    settings: Settings
    seconds: dict[str, float]
    compilation: dict[str, float]
    load: float
    environment: dict[str, Any]


@dataclass(frozen=True)
class MapStore:
    """A folder with one file for each `MapReport` and `Times`.

    Attributes:
        root: The folder.
    """

    root: Path

    def folder(self, task: Task, dataset: str, settings: Settings) -> Path:
        """Return the folder of a dataset, which depends on the settings."""
        return self.root / f"{task.name}-{settings.digest}" / dataset

    def path(
        self,
        task: Task,
        dataset: str,
        settings: Settings,
        arm: str,
        steps: int,
        rates: tuple[float, ...],
        seeds: tuple[int, ...],
    ) -> Path:
        """Return the path of the report of networks that are trained together."""
        numbers = "_".join(f"{rate:g}" for rate in rates)
        name = f"steps-{steps}-rates-{numbers}-seeds-{'_'.join(map(str, seeds))}.json"
        return self.folder(task, dataset, settings) / arm / name

    def times_path(self, task: Task, dataset: str, settings: Settings) -> Path:
        """Return the path of the times of a dataset."""
        return self.folder(task, dataset, settings) / "times.json"

    def read(self, path: Path) -> MapReport | None:
        """Return a report, or `None` if it is missing. An invalid file is renamed."""
        return _read(MapReport, path)

    def read_times(self, path: Path) -> Times | None:
        """Return times, or `None` if they are missing. An invalid file is renamed."""
        return _read(Times, path)

    def write(self, path: Path, content: MapReport | Times) -> None:
        """Write a report or times atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fields = {"format": FORMAT, **asdict(content)}
        lines = ",\n".join(f'"{key}": {json.dumps(fields[key])}' for key in fields)
        write_atomically(path, f"{{\n{lines}\n}}\n")


def pack(root: Path, output: Path, folder: str = "") -> int:
    """Write reports into one compressed file, for version control.

    Args:
        root: Folder of a `MapStore`.
        output: Path of the compressed file, which ends in `.json.gz`.
        folder: Folder below `root` whose reports are written; all by default.

    Returns:
        The number of reports in the file.
    """
    files = sorted((root / folder).rglob("*.json"))
    content = {str(f.relative_to(root)): parse_json(f.read_bytes()) for f in files}
    text = json.dumps(content, sort_keys=True)
    write_atomically(output, gzip.compress(text.encode(), mtime=0))
    return len(content)


def unpack(source: Path, root: Path) -> int:
    """Write the reports of a packed file into a folder, and keep existing reports.

    Args:
        source: Path of a file written by `pack`.
        root: The folder.

    Returns:
        The number of reports in the packed file.

    Raises:
        ValueError: If the file was not written by `pack`.
    """
    try:
        content = parse_json(gzip.decompress(source.read_bytes()))
        texts = {name: json.dumps(fields) for name, fields in content.items()}
    except (OSError, EOFError, AttributeError, ValueError) as error:
        raise ValueError(f"Expected packed reports. Received: {source}") from error
    for name, text in texts.items():
        path = (root / name).resolve()
        if not path.is_relative_to(root.resolve()):
            raise ValueError(f"Expected packed reports. Received: {source} with {name}")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
    return len(texts)


def _read(kind: Any, path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        fields = parse_json(path.read_bytes())
        if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
            raise ValueError(f"expected the format {FORMAT}")
        return build(kind, fields)
    except ValueError:
        set_aside(path)
        return None
