"""Record compare, predict and search on three tables, as a user sees them.

    KERAS_BACKEND=torch python -m tools.transcript

The screens of compare alone are written to another file, for docs/table.md.

The first table is made here. It mixes numbers, text, dates, and true or false, with
cells that must be explained. The other two are public tables of scikit-learn.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_vaf.utils import write_atomically

ROWS = 500
PUBLIC = ("cancer", "diabetes")
COMPARE = "--quick"
SEARCH = "--trials 2 --folds 2 --epochs 20"


class Session:
    """Commands that run in a folder, and their output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[str] = []

    def run(self, line: str) -> str:
        """Run a command line, and return what it prints."""
        words = shlex.split(line)
        if words[0] == "keras-vaf":
            words = [sys.executable, "-m", "keras_vaf_cli", *words[1:]]
        environment = {**os.environ, "COLUMNS": "110"}
        environment.pop(
            "TF_CPP_MIN_LOG_LEVEL", None
        )  # set by an import in this process
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(f"$ {line}\n{done.stdout}", flush=True)
        self.commands.append(f"$ {line}\n{done.stdout.strip()}\n\n")
        return done.stdout

    def text(self, start: str = "") -> str:
        """Return the commands that start in this way, with what they printed."""
        return "".join(c for c in self.commands if c.startswith(f"$ {start}"))


def make_houses(folder: Path) -> None:
    """Write a mixed table with cells that must be explained, and rows to predict."""
    import pandas

    rng = np.random.default_rng(0)
    count = ROWS + 100
    area, rooms = rng.normal(110, 35, count).clip(30), rng.integers(1, 8, count)
    city = rng.choice(["Bonn", "Köln", "Ulm", "Trier"], count)
    lift = rng.choice(["yes", "no"], count)
    days = np.datetime64("2021-01-01") + rng.integers(0, 1500, count)
    price = 1500 * area * (1 + 0.5 * (city == "Köln") + 0.2 * (lift == "yes"))
    price = price + 20_000 * np.sqrt(rooms) + rng.normal(0, 15_000, count)
    frame = pandas.DataFrame(
        {
            "sold": [f"{day:%d/%m/%Y}" for day in pandas.to_datetime(days)],
            "city": city,
            "area": area.round(1).astype(object),
            "rooms": rooms.astype(object),
            "lift": lift,
            "id": [f"H{number:05}" for number in range(count)],
            "country": "DE",
            "price": price.round(-2).astype(int),
        }
    )
    frame.loc[rng.choice(ROWS, 6, replace=False), "area"] = None
    frame.loc[5, "rooms"] = "n.a."
    options = {"sep": ";", "decimal": ",", "index": False, "encoding": "cp1252"}
    frame[:ROWS].to_csv(folder / "houses.csv", **options)
    new = frame[ROWS:].drop(columns="price")
    new.iloc[0, new.columns.get_loc("city")] = "Rom"
    new[["area", "id", "sold", "rooms", "lift", "city"]].to_csv(
        folder / "new.csv", **options
    )
    wrong = new.rename(columns={"city": "town"}).drop(columns="lift")
    wrong.iloc[3, wrong.columns.get_loc("area")] = "unknown"
    wrong.iloc[4, wrong.columns.get_loc("sold")] = "soon"
    wrong.to_csv(folder / "wrong.csv", **options)


def make_public(folder: Path) -> None:
    """Write two tables of scikit-learn."""
    from sklearn import datasets

    cancer = datasets.load_breast_cancer(as_frame=True)
    names = dict(enumerate(cancer.target_names))
    cancer.frame.replace({"target": names}).to_csv(folder / "cancer.csv", index=False)
    datasets.load_diabetes(as_frame=True, scaled=False).frame.to_csv(
        folder / "diabetes.csv", index=False
    )


def record(folder: Path) -> Session:
    """Run the commands on all tables."""
    make_houses(folder)
    make_public(folder)
    session = Session(folder)
    options = "houses.csv --target price --encoding cp1252"
    best = _best(session.run(f"keras-vaf compare {options} {COMPARE}"))
    session.run(
        f"keras-vaf predict {best} wrong.csv -o wrong.out.csv --encoding cp1252"
    )
    predict = f"keras-vaf predict {best} new.csv -o houses.out.csv"
    session.run(f"{predict} --encoding cp1252")
    session.run("head -3 houses.out.csv")
    session.run(f"keras-vaf search {options} {SEARCH}")
    for name in PUBLIC:
        options = f"{name}.csv --target target"
        best = _best(session.run(f"keras-vaf compare {options} {COMPARE}"))
        session.run(f"keras-vaf predict {best} {name}.csv -o {name}.out.csv")
        session.run(f"keras-vaf search {options} {SEARCH}")
    return session


def _best(printed: str) -> str:
    found = re.search(r"predict (\S+best\.keras)", printed)
    if found is None:
        raise ValueError(f"Expected the path of best.keras. Received: {printed}")
    return found[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.transcript", description=__doc__
    )
    parser.add_argument("--output", type=Path, default=Path("docs/reports/tables"))
    folder = parser.parse_args(argv).output
    with tempfile.TemporaryDirectory() as scratch:
        session = record(Path(scratch))
    write_atomically(folder / "transcript.txt", session.text())
    write_atomically(folder / "compare.txt", session.text("keras-vaf compare"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
