"""`open_data` and the options for a user's own table."""

import argparse
import csv
import sys
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.shared import add, say

if TYPE_CHECKING:
    from keras_vaf.datasets import Dataset

FEWEST_ROWS = 20
"""A table of fewer rows cannot be divided into training, validation and test rows."""

_ROLES = ("task", "categories", "ignore", "groups", "time", "dates")
_FORMAT = ("separator", "decimal", "encoding", "na", "sheet", "header")


def column_names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as `a,b`. Quotes allow commas in a name."""
    return tuple(name for name in next(csv.reader([text]), []) if name)


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the data, the output, and the options for the use of a table's columns."""
    parser.usage = "%(prog)s [options] data"
    add(parser, "data", "--output", "--data-dir")
    group = parser.add_argument_group("a table of your own")
    group.add_argument("--target", metavar="COLUMN", help="column to predict")
    group.add_argument(
        "--task",
        metavar="TASK",
        choices=("classification", "regression"),
        help="classification or regression (default: determined by the values)",
    )
    for name, text in (
        ("categories", "columns of numbers that are categories: a,b"),
        ("ignore", "columns that are not inputs: a,b"),
    ):
        group.add_argument(
            f"--{name}", type=column_names, default=(), metavar="NAMES", help=text
        )
    group.add_argument(
        "--missing",
        choices=("mean", "drop"),
        default="mean",
        help="fill in missing entries (default), or drop their rows",
    )
    divisions = group.add_mutually_exclusive_group()
    divisions.add_argument(
        "--groups", metavar="COLUMN", help="rows of equal entries stay in one fold"
    )
    divisions.add_argument(
        "--time", metavar="COLUMN", help="folds are tested on later rows"
    )
    group.add_argument(
        "--dates",
        metavar="ORDER",
        choices=("day-first", "month-first"),
        help="of dates such as 1/2/2024: day-first or month-first",
    )
    add_file_options(group)


def add_file_options(group: argparse._ActionsContainer) -> None:
    """Add the options for the format of a table."""
    for name, text in (
        ("separator", "of a CSV file (default: guessed from the header)"),
        ("decimal", "mark of numbers in text (default: guessed)"),
        ("encoding", "of a CSV file (default: utf-8)"),
    ):
        group.add_argument(f"--{name}", metavar="TEXT", help=text)
    group.add_argument(
        "--sheet", type=_sheet, default=0, help="of an Excel file (default: the first)"
    )
    group.add_argument(
        "--na",
        type=column_names,
        default=(),
        metavar="WORDS",
        help="additional words for a missing entry",
    )
    group.add_argument(
        "--no-header",
        dest="header",
        action="store_false",
        help="the first row holds cells; columns are named 1, 2, 3, ...",
    )


def file_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `read_table` for the format of a table."""
    options = {name: getattr(arguments, name) for name in _FORMAT}
    if options["separator"] in ("\\t", "tab"):
        options["separator"] = "\t"
    return options


def open_data(arguments: argparse.Namespace) -> "Dataset":
    """Load the dataset or read the table of a command, and print the decisions.

    Raises:
        ValueError: If the table cannot be used, or has few rows.
    """
    from keras_vaf.datasets import load, read_table

    if arguments.target is None:
        dataset = load(arguments.data, arguments.data_dir)
    else:
        roles = {name: getattr(arguments, name) for name in _ROLES}
        options = roles | file_options(arguments)
        dataset = read_table(arguments.data, arguments.target, **options)
        if len(dataset.x) < FEWEST_ROWS:
            raise ValueError(
                f"{arguments.data} has {len(dataset.x)} rows with a target. Networks "
                "are trained, selected and tested on different rows: at least "
                f"{FEWEST_ROWS} are needed."
            )
    for note in dataset.notes:
        warns = note.startswith("Warning")
        say(note, file=sys.stderr if warns else sys.stdout)
    return dataset


def _sheet(text: str) -> str | int:
    return int(text) if text.isdigit() else text
