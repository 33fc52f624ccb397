"""`read_records`, which reads the records of the trials of a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keras_vaf.tuners.results import result_of
from keras_vaf.utils import check_integer, parse_json, set_aside

_NUMBERS = ("place", "ended", "started")


def file_of(folder: Path, trial_id: str) -> Path:
    """Return the file with the record of a trial.

    Args:
        folder: Folder of the search.
        trial_id: Number of the trial, as text.
    """
    return folder / f"trial_{trial_id}" / "trial.json"


def files_of(folder: Path) -> list[Path]:
    """Return the files of all records."""
    return sorted(folder.glob("trial_*/trial.json"))


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a file.

    Raises:
        ValueError: If the file is incomplete or has wrong values.
    """
    record = parse_json(path.read_bytes())
    trial = result_of(record).trial
    for name in _NUMBERS:
        check_integer(name, record.get(name), minimum=0)
    if record["place"] >= record["started"] or path.parent.name != f"trial_{trial}":
        raise ValueError("It is the record of another trial.")
    return record


def read_records(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the records of a search, and rename incomplete files.

    Args:
        folder: Folder of the search.

    Returns:
        The records, and a note for each renamed file.
    """
    records, notes = [], []
    for path in files_of(folder):
        try:
            records.append(read_record(path))
        except ValueError:
            notes.append(
                f"The file of {path.parent.name.replace('_', ' ')} was incomplete and "
                f"is now {set_aside(path).name}; the trial runs again."
            )
    return records, notes
