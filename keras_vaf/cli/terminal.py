"""What the commands show in a terminal, through rich."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from keras_vaf.utils import require

T = TypeVar("T")


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
