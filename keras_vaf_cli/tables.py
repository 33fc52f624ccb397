"""`open_data` and the options for a user's own table."""

import argparse
import contextlib
import csv
import io
import pickle
import shlex
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.shared import say

if TYPE_CHECKING:
    from keras_vaf.datasets import Dataset

FEWEST_ROWS = 20
"""A table of fewer rows cannot be divided into training, validation and test rows."""

_PACKAGE = Path(__file__).parents[1] / "keras_vaf"
# Packages whose __init__.py imports Keras.
_EMPTY = ("keras_vaf", "keras_vaf.datasets", "keras_vaf.training")
_WITHOUT_OPTION = ("allow_missing",)  # the commands always allow missing entries


def column_names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as `a,b`. Quotes allow commas in a name."""
    return tuple(name for name in next(csv.reader([text]), []) if name)


def add_table_options(group: argparse._ActionsContainer) -> None:
    """Add the options for the use of a table's columns."""
    group.add_argument("--target", metavar="COLUMN", help="column to predict")
    group.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="predict classes or numbers (default: determined by the values)",
    )
    for name, text in (
        ("categories", "columns of numbers that are categories, separated by commas"),
        ("ignore", "columns that are not inputs, separated by commas"),
    ):
        group.add_argument(
            f"--{name}", type=column_names, default=(), metavar="NAMES", help=text
        )
    group.add_argument(
        "--missing",
        choices=("mean", "drop"),
        help="fill in missing entries (default), or drop their rows",
    )
    divisions = group.add_mutually_exclusive_group()
    divisions.add_argument(
        "--groups", metavar="COLUMN", help="column whose equal entries stay in one fold"
    )
    divisions.add_argument(
        "--time",
        metavar="COLUMN",
        help="column that orders the rows; test rows are later than training rows",
    )
    group.add_argument(
        "--dates",
        choices=("day-first", "month-first"),
        help="order of day and month in dates such as 1/2/2024",
    )
    add_file_options(group)


def add_file_options(group: argparse._ActionsContainer) -> None:
    """Add the options for the format of a table."""
    for name, text in (
        ("separator", "of a CSV file (default: guessed from the header)"),
        ("decimal", "of numbers in text (default: guessed from a CSV file's cells)"),
        ("encoding", "of a CSV file (default: utf-8)"),
    ):
        group.add_argument(f"--{name}", help=text)
    group.add_argument(
        "--na",
        type=column_names,
        default=(),
        metavar="WORDS",
        help="additional words for a missing entry, separated by commas",
    )
    group.add_argument(
        "--sheet", type=_sheet, default=0, help="of an Excel file (default: the first)"
    )


def file_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `read_table` for the format of a table."""
    separator = arguments.separator
    return {
        "separator": "\t" if separator in ("\\t", "tab") else separator,
        "decimal": arguments.decimal,
        "encoding": arguments.encoding,
        "na": arguments.na,
        "sheet": arguments.sheet,
    }


def table_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `read_table`, except the table and its target."""
    names = ("task", "categories", "ignore", "groups", "time", "dates")
    named = {name: getattr(arguments, name) for name in names}
    return {**named, **file_options(arguments)}


def check_table(arguments: argparse.Namespace, folds: int | None = None) -> None:
    """Read a table before Keras is imported, which takes seconds, and keep it.

    Args:
        arguments: Arguments of the command line.
        folds: Number of folds into which its rows will be split.

    Raises:
        ValueError: As `open_data`, or if the rows cannot be split into the folds.
    """
    if arguments.target is None or "keras_vaf" in sys.modules:
        return
    with without_keras():
        dataset = _read(arguments)
        if folds is not None and dataset.groups is None and dataset.times is None:
            from keras_vaf.training.splits import k_folds

            k_folds(dataset.y, folds, stratify=dataset.task == "classification")
        # The classes of the dataset are imported again, together with Keras.
        arguments.dataset = pickle.dumps(dataset)


@contextlib.contextmanager
def without_keras() -> Iterator[None]:
    """Import modules of `keras_vaf.datasets.tables` without Keras, and forget them.

    Inside the block, the packages in `_EMPTY` are empty. After it, `keras_vaf` is
    imported as usual.
    """
    for name in _EMPTY:
        package = types.ModuleType(name)
        folder = _PACKAGE.joinpath(*name.split(".")[1:])
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    try:
        yield
    finally:
        for name in [*sys.modules]:
            if name == "keras_vaf" or name.startswith("keras_vaf."):
                del sys.modules[name]


def _read(arguments: argparse.Namespace) -> "Dataset":
    """Read a table with enough rows."""
    options = table_options(arguments)
    with command_that_solves(arguments):
        from keras_vaf.datasets.tables.reading import read_table

        dataset = read_table(arguments.data, arguments.target, **options)
    if len(dataset.x) < FEWEST_ROWS:
        raise ValueError(
            f"{arguments.data} has {len(dataset.x)} rows with a target. Networks are "
            "trained, selected and tested on different rows: at least "
            f"{FEWEST_ROWS} are needed."
        )
    return dataset


def open_data(arguments: argparse.Namespace) -> "Dataset":
    """Load the dataset or read the table of a command, and print the decisions.

    Raises:
        ValueError: If the table cannot be used, or has few rows. The message ends with
            a command that solves the problems, as far as options can.
    """
    if kept := arguments.__dict__.pop("dataset", None):
        dataset = pickle.loads(kept)
    elif arguments.target is not None:
        dataset = _read(arguments)
    else:
        from keras_vaf.datasets.loading import open_dataset

        dataset = open_dataset(arguments.data, arguments.data_dir)
    for note in dataset.notes:
        warns = note.startswith("Warning")
        say(note, file=sys.stderr if warns else sys.stdout)
    return dataset


@contextlib.contextmanager
def command_that_solves(arguments: argparse.Namespace) -> Iterator[None]:
    """End the message of a `TableError` with a command that solves the problems."""
    from keras_vaf.datasets.tables.problems import TableError

    try:
        yield
    except TableError as error:
        if not error.fixes:
            raise ValueError(error.text) from error
        command = shlex.join(["keras-vaf", *_mended(arguments, error.fixes)])
        solves = f"This command solves {error.solves or 'it'}:"
        raise ValueError(f"{error.text}\n{solves}\n{command}") from error


def _mended(arguments: argparse.Namespace, fixes: Mapping[str, Any]) -> list[str]:
    """Return the command line with additional options."""
    words = list(arguments.line)
    for name, value in fixes.items():
        if name in _WITHOUT_OPTION:
            continue
        option = f"--{name}"
        _remove(words, option)
        if isinstance(value, tuple):
            text = _joined((*getattr(arguments, name), *value))
        else:
            text = value
        # Only this form may have a value that begins with a dash.
        words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return words


def _remove(words: list[str], option: str) -> None:
    """Remove an option with its value from a command line."""
    if option in words:
        place = words.index(option)
        del words[place : place + 2]
    words[:] = [word for word in words if not word.startswith(f"{option}=")]


def _joined(names: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(dict.fromkeys(names))
    return buffer.getvalue().removesuffix("\r\n")


def _sheet(text: str) -> str | int:
    return int(text) if text.isdigit() else text
