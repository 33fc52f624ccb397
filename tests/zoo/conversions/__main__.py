"""The command: convert models of other packages, train them, save them, freeze them.

    pip install -e '.[test,zoo]'
    KERAS_BACKEND=jax python -m tests.zoo.conversions
    KERAS_BACKEND=tensorflow python -m tests.zoo.conversions 'keras-hub/*'
    python -m tests.zoo.conversions ''

Each model that a pattern fits becomes a row of `conversions.csv.xz`, unless it has one
for this backend, so that an interrupted run goes on. Delete the file to examine all
models again. `conversions.md` is written from all rows.
"""

import fnmatch
import lzma
import sys
import tempfile
import textwrap
from importlib import metadata
from pathlib import Path

import keras
import pandas as pd

from benchmarks.speed.rows import environment
from keras_vaf.utils import markdown_table, write_atomically
from tests.zoo.conversions.stages import examine
from tests.zoo.conversions.zoo import names

FILE = Path("docs/reports/models/conversions.csv.xz")
COLUMNS = (
    *("model", "backend", "date", "cores", "keras-vaf", "keras", "keras-hub"),
    *("parameters", "exist", "replaced", "reported", "kept", "left"),
    *("deviation", "loss", "batch", "activations", "changed", "trained"),
    *("reloaded", "frozen", "reason"),
)
"""`trained` is empty or an error; `reloaded` and `frozen` are a deviation or one."""
SHARED = ("numpy", "tensorflow", "jax", "jaxlib", "torch", "Python")
INTRODUCTION = """\
# Models of other packages, converted

`convert(model)` without options, random weights, one step of training.
`conversions.csv.xz` has the whole text of errors, and the layers that stay.

- replaced / exist: elementwise activation functions that the backend computes. Its
  functions are wrapped, and count before and after the conversion. Softmax is left out.
- kept: activations that stay.
- deviation: largest difference of an output before training, divided by its largest
  value.
- trained: VAFs whose weights changed, of all VAFs, after a step on a batch of 4.
- reloaded: the saved model, loaded again: deviation of its outputs.
- frozen: the same for the frozen model.
"""


def read(path: Path = FILE) -> pd.DataFrame:
    """Return the rows of a table, all of them text, below a first line with `#`."""
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, skiprows=1, dtype=str, keep_default_na=False)


def about(path: Path, packages: dict[str, str]) -> str:
    """Return the first line of a table: command, commit, versions and device."""
    if path.exists():
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.readline()
    versions = ", ".join(f"{n} {packages[n]}" for n in SHARED if n in packages)
    return (
        "# command: python -m tests.zoo.conversions; commit: not recorded; versions: "
        f"{versions}; device: {packages['processor']}, {packages['memory']}\n"
    )


def markdown(rows: pd.DataFrame) -> str:
    """Return the tables of all backends."""
    parts = [INTRODUCTION]
    for backend, group in rows.groupby("backend"):
        first, table = group.iloc[0], [*map(cells, group.to_dict("records"))]
        versions = f"Keras {first['keras']}, keras-hub {first['keras-hub']}"
        columns = ("model", "replaced / exist", "kept", "deviation")
        columns += ("trained", "reloaded", "frozen")
        parts += [
            f"## {backend}\n",
            f"{len(group)} models. {versions}, {first.date}.\n",
        ]
        parts.append(markdown_table(columns, table, text_columns=len(columns)) + "\n")
    return "\n".join(parts)


def cells(row: dict[str, str]) -> list[str]:
    """Return the cells of a model, the beginnings of errors included."""
    counted = f"{row['replaced']} / {row['exist']}"
    if row["reason"]:
        return [row["model"], counted, number(row["reason"]), *[""] * 4]
    trained = f"{row['changed']} of {row['activations']}"
    return [
        *(row["model"], counted),
        str(len([*filter(None, row["left"].split(" | "))])),
        *(number(row["deviation"]), number(row["trained"]) or trained),
        *(number(row["reloaded"]), number(row["frozen"])),
    ]


def number(value: str) -> str:
    """Return a number with two digits, or the beginning of an error."""
    try:
        return f"{float(value):.1e}"
    except ValueError:
        text = textwrap.shorten(value, 120, placeholder=" …").replace("`", "")
        return f"`{text}`" if text else ""


def add(name: str, path: Path = FILE) -> None:
    """Examine a model and write its row, unless it has one."""
    rows, backend = read(path), keras.backend.backend()
    if ((rows.model == name) & (rows.backend == backend)).any():
        return
    versions = {"keras-hub": metadata.version("keras-hub")}
    packages = {"backend": backend, **environment(), **versions}
    with tempfile.TemporaryDirectory() as files:
        result = {"model": name, **packages, **examine(name, Path(files))}
    rows.loc[len(rows)] = [str(result.get(column, "")) for column in COLUMNS]
    text = rows.sort_values(["backend", "model"]).to_csv(index=False)
    text = about(path, packages) + text
    write_atomically(path, lzma.compress(text.encode()))
    print(name, flush=True)


if __name__ == "__main__":
    patterns = sys.argv[1:] or ["*"]
    for model in names():
        if any(fnmatch.fnmatchcase(model, each) for each in patterns):
            add(model)
    write_atomically(FILE.with_name("conversions.md"), markdown(read()))
