"""`merge`, which copies the reports of several shards into one folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.utils import check_kind, check_kinds, parse_json, write_atomically


@dataclass(frozen=True)
class Merged:
    """Counts of the reports that `merge` found.

    Attributes:
        copied: Number of reports that were copied.
        there: Number of reports that the output folder already had.
        left_out: Files that are not valid reports of their cells.

    Example:

    >>> Merged(copied=3, there=0, left_out=()).copied
    3
    """

    copied: int
    there: int
    left_out: tuple[Path, ...]


def merge(
    folders: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]
) -> Merged:
    """Copy the reports and networks of several output folders into one.

    If several folders contain the same cell, the first folder counts. Cells of the
    output folder are kept. The other folders are not changed.

    Args:
        folders: Output folders of `compare`, such as those of its shards.
        output: Folder to which the files are copied.

    Raises:
        ValueError: If `folders` is not a sequence of paths, or `output` not a path.
        FileNotFoundError: If a folder has no cells.
        OSError: If a file cannot be written.
    """
    check_kinds("folders", folders, str, os.PathLike)
    check_kind("output", output, str, os.PathLike)
    for folder in folders:
        if not (Path(folder) / "cells").is_dir():
            raise FileNotFoundError(
                f"{folder} is not a folder of results: it has no folder `cells`."
            )
    copied, there, left_out = 0, 0, []
    sources = [Path(folder) / "cells" for folder in folders]
    for source, path in ((s, p) for s in sources for p in sorted(s.rglob("*.json"))):
        target = Path(output) / "cells" / path.relative_to(source)
        if not _is_own(source, path):
            left_out.append(path)
        elif target.is_file():
            there += 1
        else:
            for suffix in (".keras", ".json"):  # the report completes the cell
                if path.with_suffix(suffix).is_file():
                    content = path.with_suffix(suffix).read_bytes()
                    write_atomically(target.with_suffix(suffix), content)
            copied += 1
    return Merged(copied, there, tuple(left_out))


def _is_own(source: Path, path: Path) -> bool:
    """Return whether a file is a complete report of the cell that its path names."""
    try:
        report = Report.from_dict(parse_json(path.read_bytes()))
    except ValueError:
        return False
    return Store(source).path(report.cell, report.environment["backend"]) == path
