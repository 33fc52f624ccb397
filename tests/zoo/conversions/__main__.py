"""The command: convert models of other packages, train them, save them, freeze them.

    pip install -e '.[test,zoo]'
    KERAS_BACKEND=jax python -m tests.zoo.conversions
    KERAS_BACKEND=tensorflow python -m tests.zoo.conversions --only 'keras-hub/*'
    python -m tests.zoo.conversions --tables

Each model becomes a row of `docs/reports/models/conversions.csv.xz`. Models that have a
row for this backend are left out, so that an interrupted run goes on. Delete the file
to examine all of them again. The table `conversions.md` is written from all rows.
"""

import argparse
import fnmatch
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from keras_vaf.utils import write_atomically
from tests.zoo.conversions import records
from tests.zoo.conversions.tables import markdown


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if not arguments.tables:
        from tests.zoo.conversions.zoo import names

        for name in names(arguments.all):
            if any(fnmatch.fnmatchcase(name, each) for each in arguments.only):
                _examine(name, arguments.output)
    _, rows = records.read(arguments.output / FILE)
    write_atomically(arguments.output / "conversions.md", markdown(rows))
    return 0


FILE = "conversions.csv.xz"


def _examine(name: str, folder: Path) -> None:
    """Examine a model, unless it has a row."""
    import keras

    from benchmarks.environment import environment
    from tests.zoo.conversions.stages import examine

    about, rows = records.read(folder / FILE)
    backend = keras.backend.backend()
    if any((row["model"], row["backend"]) == (name, backend) for row in rows):
        return
    versions = {"keras-hub": metadata.version("keras-hub")}
    packages = {"backend": backend, **environment(), **versions}
    with tempfile.TemporaryDirectory() as files:
        result = examine(name, Path(files))
    rows.append(records.row_of(packages, result))
    records.write(folder / FILE, about or records.about_line(packages), rows)
    print(name, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo.conversions")
    parser.add_argument(
        "--only", nargs="+", default=["*"], metavar="PATTERN", help="these models"
    )
    parser.add_argument(
        "--all", action="store_true", help="all sizes of each family of networks"
    )
    parser.add_argument("--tables", action="store_true", help="write the tables only")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/reports/models"), metavar="FOLDER"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
