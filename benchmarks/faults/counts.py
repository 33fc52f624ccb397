"""What is counted of each attack, and the table of all counts."""

import signal
import zipfile
from collections.abc import Mapping
from pathlib import Path

from keras_vaf.utils import markdown_table

COUNTS = (
    "tried",
    "stopped",
    "lost",
    "failed again",
    "hung",
    "tracebacks",
    "temporary files",
)
"""`stopped` counts commands that the fault ended. Those after it must be 0."""


def whole_files(folder: Path) -> set[str]:
    """Return the files of a folder that are complete."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".tmp-")
        if path.suffix != ".keras" or zipfile.is_zipfile(path)
    }


def counted(code: int, lost: int, again: int, text: str, left: int) -> dict[str, int]:
    """Return the counts of one try.

    Args:
        code: Exit code of the command that met the fault.
        lost: Number of older files that are missing or incomplete.
        again: Exit code of the command when it was run again.
        text: Everything that both wrote.
        left: Number of temporary files after the second run.
    """
    return {
        "tried": 1,
        "stopped": int(code != 0),
        "lost": lost,
        "failed again": int(again != 0),
        "hung": int(code == -signal.SIGALRM),
        "tracebacks": text.count("Traceback"),
        "temporary files": left,
    }


def markdown(results: Mapping[str, Mapping[str, int]]) -> str:
    """Return the counts as a table, one line for each attack."""
    rows = [[name, *(str(each[c]) for c in COUNTS)] for name, each in results.items()]
    return markdown_table(["attack", *COUNTS], rows) + "\n"
