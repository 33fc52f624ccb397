"""The command: convert models of other packages, train them, save them, freeze them.

    pip install -e '.[test,zoo]'
    KERAS_BACKEND=jax python -m tests.zoo.conversions
    KERAS_BACKEND=tensorflow python -m tests.zoo.conversions --only 'keras-hub/*'
    python -m tests.zoo.conversions --only

Each model becomes a row of `docs/reports/models/conversions.csv.xz`. Models that have a
row for this backend are left out, so that an interrupted run goes on. Delete the file
to examine all of them again. The table `conversions.md` is written from all rows; an
empty `--only` writes nothing else.
"""

import argparse
import fnmatch
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import keras

from benchmarks.environment import environment
from keras_vaf.utils import write_atomically
from tests.zoo.conversions import records
from tests.zoo.conversions.stages import examine
from tests.zoo.conversions.tables import markdown
from tests.zoo.conversions.zoo import names

FOLDER = Path("docs/reports/models")
FILE = FOLDER / "conversions.csv.xz"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo.conversions")
    parser.add_argument(
        "--only", nargs="*", default=["*"], metavar="PATTERN", help="these models"
    )
    patterns = parser.parse_args(argv).only
    for name in names():
        if any(fnmatch.fnmatchcase(name, each) for each in patterns):
            _examine(name)
    _, rows = records.read(FILE)
    write_atomically(FOLDER / "conversions.md", markdown(rows))


def _examine(name: str) -> None:
    """Examine a model, unless it has a row."""
    about, rows = records.read(FILE)
    backend = keras.backend.backend()
    if any((row["model"], row["backend"]) == (name, backend) for row in rows):
        return
    versions = {"keras-hub": metadata.version("keras-hub")}
    packages = {"backend": backend, **environment(), **versions}
    with tempfile.TemporaryDirectory() as files:
        result = examine(name, Path(files))
    rows.append(records.row_of(packages, result))
    records.write(FILE, about or records.about_line(packages), rows)
    print(name, flush=True)


if __name__ == "__main__":
    main()
