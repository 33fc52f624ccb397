"""`open_data` and the options for a user's own table."""

import argparse
import csv
import sys
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.shared import say

if TYPE_CHECKING:
    from keras_vaf.datasets import Dataset

FEWEST_ROWS = 20
"""A table of fewer rows cannot be divided into training, validation and test rows."""


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
        "--no-header",
        action="store_true",
        help="the first row holds cells; columns are named 1, 2, 3, ...",
    )
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
        "header": not arguments.no_header,
    }


def open_data(arguments: argparse.Namespace) -> "Dataset":
    """Load the dataset or read the table of a command, and print the decisions.

    Raises:
        ValueError: If the table cannot be used, or has few rows.
    """
    if arguments.target is None:
        from keras_vaf.datasets import load

        dataset = load(arguments.data, arguments.data_dir)
    else:
        from keras_vaf.datasets import read_table

        names = ("task", "categories", "ignore", "groups", "time", "dates")
        roles = {name: getattr(arguments, name) for name in names}
        dataset = read_table(
            arguments.data, arguments.target, **roles, **file_options(arguments)
        )
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
