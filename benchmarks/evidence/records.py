"""`Records`, one file per finished training, so that a study can be resumed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keras_vaf.utils import write_atomically


class Records:
    """The finished trainings of a study, one JSON file each.

    Args:
        folder: Folder of the files. It is created when the first record is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, *key: object) -> Path:
        """Return the file of a training.

        Args:
            *key: What distinguishes the training, such as dataset, arm and seed.
        """
        return self.folder / ("_".join(map(str, key)) + ".json")

    def read(self, *key: object) -> dict[str, Any] | None:
        """Return a record, or `None` if this training is not finished.

        Args:
            *key: As in `path`.
        """
        path = self.path(*key)
        if not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def write(self, record: dict[str, Any], *key: object) -> None:
        """Write a record.

        Args:
            record: The results, as JSON values.
            *key: As in `path`.
        """
        write_atomically(self.path(*key), json.dumps(record))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield all records, in the order of their names."""
        for path in sorted(self.folder.glob("*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))


def pack(folder: Path, packed: Path) -> int:
    """Write all records of a study into one compressed file.

    Args:
        folder: Folder of the records.
        packed: The file.

    Returns:
        The number of records.
    """
    records = list(Records(folder))
    text = json.dumps(records, separators=(",", ":")).encode()
    write_atomically(packed, gzip.compress(text, 9, mtime=0))
    return len(records)


def unpack(packed: Path) -> list[dict[str, Any]]:
    """Return the records of a file that `pack` wrote.

    Args:
        packed: The file.
    """
    records: list[dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return records
