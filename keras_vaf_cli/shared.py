"""`add`, `change_model`, `print_table` and what else several commands share."""

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any, TextIO

_WIDTH_OF_FILES = 200


def integers(text: str) -> tuple[int, ...]:
    """Return the integers of a list such as `"0,1,2"`."""
    return tuple(map(int, text.split(",")))


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a list such as `"0.001,0.01"`."""
    return tuple(map(float, text.split(",")))


def names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as `"wine,servo"`."""
    return tuple(name for name in text.split(",") if name)


OPTIONS: dict[str, dict[str, Any]] = {
    "data": {"help": "name of a dataset, or path of a CSV, Parquet or Excel file"},
    "model": {"metavar": "MODEL.keras", "help": "a saved Keras model"},
    "--data-dir": {
        "metavar": "FOLDER",
        "help": "with the publishers' files (default: KERAS_VAF_DATA_DIR, or else the "
        "folder of downloaded files)",
    },
    "--output": {
        "default": "runs",
        "metavar": "FOLDER",
        "help": "for all files (default: runs)",
    },
    "--hidden": {
        "type": integers,
        "default": (100, 50),
        "metavar": "WIDTHS",
        "help": "widths of the hidden layers (default: 100,50)",
    },
    "--seeds": {
        "type": integers,
        "default": (0,),
        "help": "different seeds; each seed draws other folds (default: 0)",
    },
    "--jobs": {
        "type": int,
        "default": 1,
        "help": "number of processes that train at once (default: 1)",
    },
    "--force": {"action": "store_true", "help": "overwrite the file"},
}
"""Arguments that several commands have."""


def add(group: argparse._ActionsContainer, *options: str) -> None:
    """Add arguments that several commands have."""
    for name in options:
        group.add_argument(name, **OPTIONS[name])


def add_output(
    parser: argparse.ArgumentParser,
    metavar: str = "OUT.keras",
    text: str = "file for the new model",
) -> None:
    """Add the option for an output file, and the one that allows overwriting it."""
    parser.add_argument("--output", "-o", required=True, metavar=metavar, help=text)
    add(parser, "--force")


def change_model(arguments: argparse.Namespace, change: Callable[[Any], Any]) -> None:
    """Write a changed copy of a model and print the changes."""
    from keras_vaf.models import report
    from keras_vaf.models.files import change_file

    changed = change_file(arguments.model, arguments.output, change, arguments.force)
    say(report(changed))
    say(f"Written to {arguments.output}.")


def say(*texts: object, file: TextIO | None = None) -> None:
    """Print texts whose control characters are escaped.

    Names of files and columns may contain them. Every command prints with this function
    and with `print_table`.
    """
    print(*(shown(str(text)) for text in texts), file=file, flush=True)


def shown(text: str) -> str:
    """Return a text to print, also if `keras_vaf` cannot be imported."""
    if all(map(str.isprintable, text.split("\n"))):
        return text
    try:
        from keras_vaf.utils import visible
    except ImportError:
        return "\n".join(ascii(line)[1:-1] for line in text.split("\n"))
    return visible(text)


def print_table(
    title: str,
    columns: Sequence[str],
    lines: Sequence[Sequence[str]],
    notes: Sequence[str],
) -> None:
    """Print a table with text in the first column and numbers in all others."""
    from keras_vaf.utils import require

    table = require("rich.table", extra="experiments").Table(
        title=shown(title),
        title_justify="left",
        title_style="bold",
        box=require("rich.box", extra="experiments").SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for place, column in enumerate(columns):
        table.add_column(shown(column), justify="right" if place else "left")
    for line in lines:
        table.add_row(*map(shown, line))
    rich = require("rich.console", extra="experiments")
    console = rich.Console(markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_FILES
    console.print(table)
    for note in notes:
        console.print(f"- {shown(note)}", highlight=False)
