"""The examined models, one row each in a compressed table with named columns."""

import csv
import io
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from keras_vaf.utils import write_atomically

COLUMNS = (
    *("model", "backend", "date", "cores", "keras-vaf", "keras", "keras-hub"),
    *("parameters", "exist", "replaced", "reported", "kept", "left"),
    *("deviation", "loss", "batch", "activations", "changed", "trained"),
    *("reloaded", "frozen", "reason"),
)
"""`trained` is empty or an error; `reloaded` and `frozen` are a deviation or one."""
SEPARATOR = " | "
_SHARED = ("numpy", "tensorflow", "jax", "jaxlib", "torch", "Python")

Row = dict[str, str]


def read(path: Path) -> tuple[str, list[Row]]:
    """Return the first line of a table, which begins with `#`, and its rows."""
    if not path.exists():
        return "", []
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        about = file.readline().rstrip("\n")
        return about, list(csv.DictReader(file))


def write(path: Path, about: str, rows: Iterable[Row]) -> None:
    """Write a table, with its rows in the order of backends and models."""
    text = io.StringIO(newline="")
    text.write(f"{about}\n")
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows, key=lambda row: (row["backend"], row["model"])))
    write_atomically(path, lzma.compress(text.getvalue().encode()))


def about_line(environment: dict[str, Any]) -> str:
    """Return the first line of a table: command, commit, versions and device."""
    versions = ", ".join(
        f"{name} {environment[name]}" for name in _SHARED if name in environment
    )
    device = f"{environment['processor']}, {environment['memory']}"
    command = "python -m tests.zoo.conversions"
    return (
        f"# command: {command}; commit: not recorded; versions: {versions}; "
        f"device: {device}"
    )


def row_of(environment: dict[str, Any], result: dict[str, Any]) -> Row:
    """Return the row of what `examine` found, and of the versions that it had."""
    values = {"model": result["name"], **environment, **result}
    trained = result.get("trained")
    if isinstance(trained, dict):
        values |= trained | {"changed": sum(trained["changed"]), "trained": ""}
    for name in ("kept", "left"):
        values[name] = SEPARATOR.join(result.get(name, ()))
    return {name: str(values[name]) for name in COLUMNS if name in values}
