"""Continue committed runs: `python -m benchmarks.reports_to_cells FOLDER FILE...`.

Writes each report of compact files (`.json.gz`) as the report of a cell, so that
`keras-vaf reproduce --output FOLDER` trains only the cells that the files lack.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.experiments import read_reports
from keras_vaf.experiments.reports.store import Store


def write_cells(folder: Path, files: Sequence[Path]) -> int:
    """Write the cells that a folder lacks, and return their number.

    Args:
        folder: Output folder of `keras-vaf reproduce`.
        files: Files of reports that `keras-vaf reproduce` wrote.
    """
    store = Store(folder / "cells", networks=False)
    count = 0
    for file in files:
        for report in read_reports(file):
            if not store.path(report.cell, report.environment["backend"]).is_file():
                store.write(report)
                count += 1
    return count


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reports_to_cells", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="output folder of a reproduction")
    parser.add_argument("files", type=Path, nargs="+", help="files of reports")
    options = parser.parse_args(argv)
    count = write_cells(options.folder, options.files)
    print(f"{count} cells written to {options.folder / 'cells'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
