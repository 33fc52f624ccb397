"""`open_data`, `show_comparison`, `say` and other functions that commands share."""

import contextlib
import itertools
import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from keras_vaf_cli.options import FORMAT, ROLES

if TYPE_CHECKING:
    from keras_vaf.datasets import Dataset
    from keras_vaf.experiments import Comparison

_FEWEST_ROWS = 20  # of a table, for training, selection and test
_WIDTH_OF_FILES = 200


def pick(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return those of some arguments that were given."""
    return {name: given[name] for name in names if name in given}


def check_target(given: dict[str, Any]) -> None:
    """Refuse a file without a target before Keras is loaded."""
    data, names = given["data"], "the names of its columns"
    if "target" in given or "." not in data:
        return
    with (
        contextlib.suppress(ValueError, LookupError),  # no text
        open(data, encoding=given.get("encoding", "utf-8-sig")) as file,
    ):
        names = [*itertools.islice(file, given.get("skip", 0) + 1)][-1].strip()
    raise ValueError(
        f"A table needs `--target COLUMN`, one of {names}. Received: {data!r}"
    )


def open_data(given: dict[str, Any]) -> "Dataset":
    """Load the dataset or read the table of a command, and print the decisions."""
    from keras_vaf.datasets import load, read_table

    paper = "target" not in given
    unused = pick(given, *((*ROLES, *FORMAT) if paper else ("data_dir",)))
    if unused:
        name = next(iter(unused)).replace("_", "-").replace("header", "no-header")
        raise ValueError(
            f"`--{name}` is for a table of your own, which needs `--target COLUMN`."
            if paper
            else f"`--{name}` is for a dataset of the paper, without `--target`."
        )
    if paper:
        dataset = load(given["data"], **pick(given, "data_dir"))
    else:
        dataset = read_table(given["data"], **pick(given, *ROLES, *FORMAT))
        if len(dataset.x) < _FEWEST_ROWS:
            raise ValueError(
                f"{given['data']} has {len(dataset.x)} rows with a target. Networks "
                "are trained, selected and tested on different rows: at least "
                f"{_FEWEST_ROWS} are needed."
            )
    for note in dataset.notes:
        warns = note.startswith("Warning")
        say(note, file=sys.stderr if warns else sys.stdout)
    return dataset


def show_comparison(comparison: "Comparison", files: str = "comparison.png") -> None:
    """Print the table of a comparison, the advice and the files."""
    print_table(*comparison.text)
    folder, written = comparison.folder, comparison.files
    say(f"\n{comparison.advice}\n")
    say(*(text for *_, text in written.values()))
    say(
        f"Written to {folder}: table.md, {files}, {' and '.join(written)}. Predict "
        "new rows with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )


def change_model(given: dict[str, Any], name: str, **words: Any) -> None:
    """Write a copy of a model, changed by a function of `keras_vaf.models`."""
    from keras_vaf import models
    from keras_vaf.models.files import change_file

    change, output = partial(getattr(models, name), **words), given["output"]
    changed = change_file(given["model"], output, change, "force" in given)
    say(models.report(changed))
    say(f"Written to {output}.")


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
    notes: Sequence[str] = (),
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
    console = rich.Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_FILES
    console.print(table, *(f"- {shown(note)}" for note in notes), sep="\n")
