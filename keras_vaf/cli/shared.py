"""What several commands have in common: how they are added, and their options."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from keras_vaf.utils import require

T = TypeVar("T")


def add_command(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a command to those of `keras-vaf`.

    Args:
        subparsers: The commands of `keras-vaf`.
        name: Name of the command.
        summary: What it does, for the list of commands.
        description: What it does, for its own help.
        examples: Its last lines.
    """
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_data_dir(group: argparse._ActionsContainer) -> None:
    """Add the option that says where the publishers' files are."""
    group.add_argument(
        "--data-dir",
        metavar="FOLDER",
        help="folder with the publishers' files (default: KERAS_VAF_DATA_DIR, and "
        "without it the files that were fetched)",
    )


def add_hidden(group: argparse._ActionsContainer) -> None:
    """Add the option that says how wide a network is."""
    group.add_argument(
        "--hidden",
        type=integers,
        default=(100, 50),
        metavar="WIDTHS",
        help="widths of the hidden layers (default: 100,50)",
    )


def add_run_options(group: argparse._ActionsContainer) -> None:
    """Add the options of commands that train cells."""
    group.add_argument(
        "--replicas",
        type=_replicas,
        default="auto",
        metavar="NUMBER",
        help="networks that are trained together, on JAX (default: as many as one "
        "seed's trainings, and as suit the device)",
    )
    group.add_argument(
        "--engine",
        default="here",
        metavar="ENGINE",
        help="where to train: here, or dask://HOST:PORT (default: %(default)s)",
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        help="train the I-th of N parts alone; merge their folders afterwards",
    )


def integers(text: str) -> tuple[int, ...]:
    """Return the integers of a list such as `"0,1,2"`."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected integers separated by commas, received {text!r}"
        ) from None


def _replicas(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected auto or an integer, received {text!r}"
        ) from None


def track(items: Iterable[T], total: int) -> Iterable[T]:
    """Give back the items one by one, with a progress bar until the last is done."""
    progress = require("rich.progress", extra="experiments")
    return progress.track(items, "Training", total, transient=True)


def print_table(
    title: str,
    columns: Sequence[str],
    lines: Sequence[Sequence[str]],
    notes: Sequence[str],
) -> None:
    """Print a table whose first column is text and the others numbers."""
    table = require("rich.table", extra="experiments").Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=require("rich.box", extra="experiments").SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    for line in lines:
        table.add_row(*line)
    console = require("rich.console", extra="experiments").Console()
    console.print(table)
    for note in notes:
        console.print(f"- {note}", highlight=False, markup=False)
