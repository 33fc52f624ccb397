"""`Settings`, all settings that determine a search on a dataset."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.loading import open_dataset
from keras_vaf.tuners.baselines import BASELINES
from keras_vaf.utils import (
    build,
    check_choice,
    check_distinct,
    check_integer,
    parse_json,
    write_atomically,
)

TUNERS = {
    "random": "RandomSearch",
    "bayesian": "BayesianOptimization",
    "grid": "GridSearch",
    "hyperband": "Hyperband",
}

# `max_epochs` by number of trials. With more trials, Hyperband would draw more
# configurations than the paper's grid has.
_HYPERBAND = {70: 27, 23: 9, 6: 3}
_NOT_COMPARED = ("data_dir",)


@dataclass(frozen=True)
class Settings:
    """All settings that determine a search.

    Args:
        dataset: Name of the dataset.
        data_dir: Folder of the publishers' files; `None` for the default folder.
        checksum: Hash of the rows.
        trials: Number of trials.
        tuner: A key of `TUNERS`.
        folds: Number of folds.
        hidden: Widths of the hidden layers.
        epochs: Largest number of epochs.
        seed: Seed of all random numbers.
        target: Name of the column to predict; `None` for a dataset of the catalogue.
        table: Other arguments of `read_table`, and `"missing"`, as in `Preprocessing`.
        baselines: Keys of `BASELINES`. Each of these fixed activations gets the same
            number of trials as the VAF.
    """

    dataset: str
    data_dir: str | None
    checksum: str
    trials: int
    tuner: str
    folds: int
    hidden: tuple[int, ...]
    epochs: int
    seed: int
    target: str | None = None
    table: dict[str, Any] = field(default_factory=dict)
    baselines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_choice("tuner", self.tuner, TUNERS)
        for name, least in (("trials", 1), ("folds", 2), ("epochs", 1), ("seed", 0)):
            check_integer(name, getattr(self, name), least)
        for width in self.hidden:
            check_integer("hidden", width)
        check_distinct("baselines", self.baselines)
        for baseline in self.baselines:
            check_choice("baselines", baseline, BASELINES)
        if self.tuner == "hyperband" and self.trials not in _HYPERBAND:
            raise ValueError(
                "With Hyperband, the number of trials must be one of "
                f"{', '.join(map(str, sorted(_HYPERBAND)))}. "
                f"Received: trials={self.trials}"
            )

    @classmethod
    def of(
        cls, name: str, data_dir: str | None, trials: int, tuner: str, **options: Any
    ) -> Settings:
        """Return the settings of a new search.

        Args:
            name: Name of the dataset.
            data_dir: Folder of the publishers' files; `None` for the default folder.
            trials: Largest number of trials.
            tuner: A key of `TUNERS`. Hyperband runs 6, 23 or 70 trials.
            **options: Other fields.

        Raises:
            ValueError: If there are too few trials or epochs.
        """
        least = min(_HYPERBAND) if tuner == "hyperband" else 1
        if trials < least:
            raise ValueError(
                f"`trials` must be at least {least} for the tuner {tuner!r}. "
                f"Received: trials={trials}"
            )
        if tuner == "hyperband":
            trials = max(number for number in _HYPERBAND if number <= trials)
        new = cls(name, data_dir, "", trials, tuner, **options)
        return replace(new, checksum=new.open().checksum)

    def open(self) -> Dataset:
        """Load the dataset, or read the table."""
        options = {name: v for name, v in self.table.items() if name != "missing"}
        return open_dataset(self.dataset, self.target, self.data_dir, **options)

    @property
    def budget(self) -> dict[str, int]:
        """Arguments of the tuner for this number of trials."""
        if self.tuner == "hyperband":
            return {"max_epochs": _HYPERBAND[self.trials], "factor": 3}
        return {"max_trials": self.trials}

    def write(self, folder: Path) -> None:
        """Write the settings of a new search, or compare them with existing settings.

        Args:
            folder: Folder of the search.

        Raises:
            ValueError: If the folder contains another search.
            OSError: If the folder cannot be written to.
        """
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # fail before the training
        path = folder / "search.json"
        if not path.is_file():
            write_atomically(path, json.dumps(asdict(self), indent=1) + "\n")
            return
        found = Settings.read(folder)
        other = [
            f"{each.name} {getattr(found, each.name)!r}"
            for each in fields(self)
            if each.name not in _NOT_COMPARED
            and _plain(getattr(found, each.name)) != _plain(getattr(self, each.name))
        ]
        if other:
            raise ValueError(
                f"{folder} contains another search, with {', '.join(other)}: choose "
                "another folder, or resume that search. "
                f"Received: {self}"
            )

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """Read the settings of a search.

        Args:
            folder: Folder of the search.

        Raises:
            ValueError: If the folder does not contain a search.
        """
        try:
            data = parse_json((folder / "search.json").read_bytes())
            return build(cls, data, "settings")
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise ValueError(
                "Expected the folder of a search, with a complete `search.json`. "
                f"Received: {folder} ({error})"
            ) from error


def _plain(value: Any) -> Any:
    """Return a value as JSON would return it, with lists for tuples."""
    return json.loads(json.dumps(value))
