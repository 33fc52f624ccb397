"""`OPTIONS`, the arguments of all commands, and the types of their values."""

import argparse
import csv
from collections.abc import Callable
from typing import Any


def _list_of(kind: type[int] | type[float], example: str) -> Callable[[str], Any]:
    def convert(text: str) -> tuple[float, ...]:
        try:
            return tuple(map(kind, text.split(",")))
        except ValueError:
            message = f"expected a list such as {example}. Received: {text}"
            raise argparse.ArgumentTypeError(message) from None

    return convert


_integers, _numbers = _list_of(int, "0,1"), _list_of(float, "0.001,0.01")


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as `a,b`. Quotes allow commas in a name."""
    try:
        names = tuple(name for name in next(csv.reader([text]), []) if name)
    except csv.Error:  # a line break, or a name that is too long
        names = ()
    if not names:
        message = "expected names such as a,b, each without a line break. Received: "
        raise argparse.ArgumentTypeError(f"{message}{text[:60]!r}")
    return names


def _text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("expected a value. Received: ''")
    return text


def _separator(text: str) -> str:
    return "\t" if text in ("\\t", "tab") else _text(text)


def _sheet(text: str) -> str | int:
    return int(text) if text.isdecimal() else _text(text)


def _option(
    text: str, metavar: str | None = None, type: Any = _text, **more: Any
) -> dict[str, Any]:
    return {"help": text, "metavar": metavar, "type": type, **more}


def _flag(text: str, action: str = "store_true", **more: Any) -> dict[str, Any]:
    return {"help": text, "action": action, **more}


OPTIONS = {
    "data": _option("name of a dataset, or path of a CSV, Parquet or Excel file"),
    "model": _option("a saved Keras model", "MODEL.keras"),
    "table": _option("a CSV, Parquet or Excel file", "TABLE"),
    "names": _option("name of a dataset", "name", nargs="*"),
    "name": _option("regression, classification, convolution, sensorless or curves"),
    "-o --output": _option("file for the result", "OUT", required=True),
    "--force": _flag("overwrite the file"),
    "--output": _option("for all files (default: runs)", "FOLDER"),
    "--data-dir": _option("with the publishers' files (default: as fetched)", "FOLDER"),
    "--target": _option("column to predict", "COLUMN"),
    "--task": _option("classification or regression (default: by the values)"),
    "--categories": _option("columns of numbers that are categories", "A,B", _names),
    "--ignore": _option("columns that are not inputs", "A,B", _names),
    "--missing": _option("mean (default), or drop the rows of missing entries"),
    "--groups": _option("rows of equal entries stay in one fold", "COLUMN"),
    "--time": _option("folds are tested on later rows", "COLUMN"),
    "--dates": _option("of dates such as 1/2/2024: day-first or month-first", "ORDER"),
    "--separator": _option("of a CSV file (default: guessed)", "TEXT", _separator),
    "--decimal": _option("mark of numbers in text (default: guessed)", "TEXT"),
    "--encoding": _option("of a CSV file (default: utf-8)", "TEXT"),
    "--sheet": _option("of an Excel file (default: the first)", type=_sheet),
    "--na": _option("additional words for a missing entry", "A,B", _names),
    "--skip": _option("rows above the names, such as titles (default: 0)", "N", int),
    "--keep-na": _flag("NA, None and others are categories, if --na does not say so"),
    "--no-header": _flag("columns are named 1, 2, 3", "store_false", dest="header"),
    "--quick": _flag("a short form, which finds large differences only"),
    "--datasets": _option("datasets (default: all)", "A,B", _names),
    "--activations": _option("baseline first; a wrong name lists all", "A,B", _names),
    "--baselines": _option("others, or none (default: relu,silu,gelu)", "A,B"),
    "--k": _option("units of each function (default: 3; to-relu: 5)", "N", int),
    "--g": _option("fixed activation of a VAF (default: by its start)"),
    "--folds": _option("number of folds (default: 5; of a search 3)", "N", int),
    "--epochs": _option("largest number of epochs (default: 300)", "N", int),
    "--learning-rates": _option(
        "of Adam (default: 0.0003 to 0.01; of a search 0.0001 to 0.03)", "A,B", _numbers
    ),
    "--hidden": _option("widths of hidden layers (default: 100,50)", "A,B", _integers),
    "--seeds": _option("each draws other folds (default: 0)", "A,B", _integers),
    "--seed": _option("of folds, initial weights and trials (default: 0)", "N", int),
    "--jobs": _option("processes that train at once (default: 1)", "N", int),
    "--trials": _option("most trials of the VAF (default: 24)", "N", int),
    "--tuner": _option("random (default), bayesian, grid or hyperband", "NAME"),
    "--selection": _option("by validation scores (default) or as in the paper: paper"),
    "--layers": _option("names or patterns of layers (default: all)", "A,B", _names),
    "--to": _option("class of the new activations (default: VAFActivation)", "CLASS"),
    "--sharing": _option("layer (default), channel or neuron: sharing a function"),
    "--data": _option("inputs of the model, saved by numpy.save", "FILE.npy"),
    "--widen": _flag("make the units units of the layers around an activation"),
    "--tolerance": _option("largest error of a function (default: 0.01)", type=float),
    "--picture": _option("draw the functions to this file", "FILE.png"),
    "--formula": _option(
        "print formulas: text (default) or latex", nargs="?", const="text"
    ),
}
"""The words of `add_argument`, by name. A default is that of the library."""

FORMAT = (
    *("separator", "decimal", "encoding", "sheet"),
    *("na", "skip", "keep_na", "header"),
)
ROLES = ("target", "task", "categories", "ignore", "groups", "time", "dates")
FILE = (*(f"--{name.replace('_', '-')}" for name in FORMAT[:-1]), "--no-header")
TABLE = {
    "": ("data", "--output", "--data-dir"),
    "a table of your own": (*(f"--{name}" for name in ROLES), "--missing", *FILE),
}
"""The arguments of a command that reads a dataset or a user's own table."""
