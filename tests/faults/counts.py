"""Counts of each attack, and the table of all counts."""

import json
import signal
import zipfile
from collections.abc import Mapping
from pathlib import Path

from keras_vaf.experiments.store import KEY
from keras_vaf.utils import markdown_table

COUNTS = (
    "tried",
    "stopped",
    "lost",
    "repeated",
    "failed again",
    "wrong code",
    "hung",
    "tracebacks",
    "temporary files",
)
"""`stopped` counts commands that the fault ended. Those after it must be 0."""


def whole_files(folder: Path) -> set[str]:
    """Return the files of a folder that are complete, and its symbolic links."""
    return {
        str(path.relative_to(folder)) + " (a link)" * path.is_symlink()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".tmp-")
        if path.suffix != ".keras" or zipfile.is_zipfile(path)
    }


def finished(folder: Path) -> dict[str, bytes]:
    """Return the records of finished trainings, by key.

    A training that is repeated has a further record.
    """
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            if line.endswith(b"}"):
                row = json.loads(line)
                key = str([row.get(name) for name in KEY])
                found[key] = found.get(key, b"") + line
    return found


def counted(
    code: int,
    text: str,
    expected: int | None = None,
    lost: int = 0,
    repeated: int = 0,
    again: int = 0,
    left: int = 0,
) -> dict[str, int]:
    """Return the counts of one try.

    Args:
        code: Exit code of the command that met the fault.
        text: Everything that it wrote.
        expected: The exit code of a command that the fault stopped. Without it, a
            command that is stopped must state the cause, with exit code 2.
        lost: Number of older files that are missing or incomplete.
        repeated: Number of finished trainings that were trained again.
        again: Exit code of the command when it was run again.
        left: Number of temporary files that a command left which was not killed.
    """
    return {
        "tried": 1,
        "stopped": int(code != 0),
        "lost": lost,
        "repeated": repeated,
        "failed again": int(again != 0),
        "wrong code": int(code not in (0, expected or 2)),
        "hung": int(code == -signal.SIGALRM),
        "tracebacks": text.count("Traceback"),
        "temporary files": left,
    }


def markdown(results: Mapping[str, Mapping[str, int]]) -> str:
    """Return the counts as a table, one line for each attack."""
    rows = [[name, *(str(each[c]) for c in COUNTS)] for name, each in results.items()]
    return markdown_table(["attack", *COUNTS], rows) + "\n"
