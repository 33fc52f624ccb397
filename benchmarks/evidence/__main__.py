"""Train the registered comparisons, and pack their records for version control.

- `python -m benchmarks.evidence run RUNS` trains all studies in turn, or those named by
  `--only`. It goes on after any interruption: a finished training has a file in RUNS.
- `python -m benchmarks.evidence pack RUNS` writes the records of each study into one
  file, `docs/reports/evidence/STUDY.json.gz`.
- `python -m benchmarks.evidence share RUNS` prints how many trainings are done.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.evidence.records import Records, pack
from benchmarks.evidence.studies import BACKENDS, find_study

PACKED = Path("docs/reports/evidence")


def run(root: Path, studies: Sequence[str]) -> int:
    """Run each study in a process of its own, with the backend that it needs."""
    for name in studies:
        command = [sys.executable, "-m", __package__, "one", str(root), "--only", name]
        environment = {**os.environ, "KERAS_BACKEND": BACKENDS[name]}
        subprocess.run(command, env=environment, check=True)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.evidence",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("run", "one", "pack", "share"))
    parser.add_argument("folder", type=Path, metavar="RUNS", help="folder of records")
    parser.add_argument("--only", action="append", choices=BACKENDS, metavar="STUDY")
    arguments = parser.parse_args(argv)
    studies = arguments.only or list(BACKENDS)
    if arguments.action == "run":
        return run(arguments.folder, studies)
    for name in studies:
        folder = arguments.folder / name
        if arguments.action == "one":
            find_study(name).run(Records(folder))
        elif arguments.action == "share":
            print(name, len(list(Records(folder))), "of", find_study(name).trainings())
        elif folder.exists():
            print(name, pack(folder, PACKED / f"{name}.json.gz"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
