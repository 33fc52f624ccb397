"""Commit the finished cells of an unfinished experiment, and continue from them.

- `python -m tools.reproduction_reports pack runs FILE.json.xz` writes the reports
  of all cells in the folder that no other committed file has.
- `python -m tools.reproduction_reports restore runs` writes all committed reports
  as cells, so that `keras-vaf reproduce --output runs` trains only what is missing.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from keras_vaf.experiments import read_reports, write_reports
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.store import Store
from keras_vaf.utils import parse_json

PACKED = Path("docs/reports/reproduction")


def pack_cells(folder: Path, file: Path, packed: Path) -> int:
    """Write the reports that the committed files lack, and return their number.

    The file contains neither the losses of all epochs nor the learned activations. The
    tables do not need them.

    Args:
        folder: Output folder of `keras-vaf reproduce`.
        file: The file to write. If it exists, its reports are replaced.
        packed: Folder of the committed files.

    Raises:
        ValueError: If a cell is incomplete or not a report.
    """
    others = [each for each in _files(packed) if not _same(each, file)]
    known = {_key(report) for report in _reports(others)}
    cells = sorted((folder / "cells").rglob("*.json"))
    reports = [Report.from_dict(parse_json(cell.read_bytes())) for cell in cells]
    lacking = [report for report in reports if _key(report) not in known]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_reports(file, lacking, curves=False, activations=False)
    return len(lacking)


def restore_cells(folder: Path, packed: Path) -> int:
    """Write the committed reports that a folder lacks, and return their number.

    Args:
        folder: As in `pack_cells`.
        packed: As in `pack_cells`.
    """
    store = Store(folder / "cells")
    count = 0
    for report in _reports(_files(packed)):
        if not store.path(report.cell, report.environment["backend"]).is_file():
            store.write(report)
            count += 1
    return count


def _files(packed: Path) -> list[Path]:
    return sorted(packed.rglob("*.json.xz"))


def _reports(files: Iterable[Path]) -> Iterable[Report]:
    return (report for file in files for report in read_reports(file))


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _key(report: Report) -> tuple[str, str, int, int]:
    """Return what identifies a training, however many networks were trained with it."""
    alone = replace(report.protocol, replicas=1)
    return report.environment["backend"], alone.digest, report.seed, report.fold


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduction_reports",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True)
    pack = actions.add_parser("pack", help="write the reports that no file has")
    restore = actions.add_parser("restore", help="write the committed reports as cells")
    for action in (pack, restore):
        action.add_argument("folder", type=Path, help="folder of the reproduction")
        action.add_argument("--packed", type=Path, default=PACKED, metavar="FOLDER")
    pack.add_argument("file", type=Path, help="file to write, FILE.json.xz")
    options = parser.parse_args(argv)
    if options.action == "pack":
        count = pack_cells(options.folder, options.file, options.packed)
        print(f"{count} reports written to {options.file}.")
    else:
        count = restore_cells(options.folder, options.packed)
        print(f"{count} cells written to {options.folder / 'cells'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
