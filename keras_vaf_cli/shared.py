"""`change_model`, `print_table` and other helpers that several commands share."""

import argparse
import functools
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any, TextIO, TypeVar

T = TypeVar("T")

_WIDTH_OF_FILES = 200


def add_data_dir(group: argparse._ActionsContainer) -> None:
    """Add the option for the folder of the publishers' files."""
    group.add_argument(
        "--data-dir",
        metavar="FOLDER",
        help="folder with the publishers' files (default: KERAS_VAF_DATA_DIR, or else "
        "the folder of downloaded files)",
    )


def add_output_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of all files."""
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="output folder for all files (default: %(default)s)",
    )


def add_hidden(group: argparse._ActionsContainer) -> None:
    """Add the option for the widths of the hidden layers."""
    group.add_argument(
        "--hidden",
        type=integers,
        default=(100, 50),
        metavar="WIDTHS",
        help="widths of the hidden layers (default: 100,50)",
    )


def add_seeds(group: argparse._ActionsContainer) -> None:
    """Add the option for the seeds."""
    group.add_argument(
        "--seeds",
        type=integers,
        default=(0,),
        help="different seeds; each seed draws other folds (default: 0)",
    )


def add_k_and_g(group: argparse._ActionsContainer) -> None:
    """Add the options for the hidden units of a VAF."""
    group.add_argument(
        "--k", type=int, default=3, help="hidden units of a VAF (default: %(default)s)"
    )
    group.add_argument(
        "--g",
        metavar="ACTIVATION",
        help="fixed activation of a VAF's hidden units (default: the function at which "
        "the VAF starts)",
    )


def add_jobs(group: argparse._ActionsContainer) -> None:
    """Add the option for the number of processes."""
    group.add_argument(
        "--jobs",
        type=integer_from(1),
        default=1,
        metavar="NUMBER",
        help="number of processes that train at the same time (default: %(default)s)",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a saved model."""
    parser.add_argument("model", metavar="MODEL.keras", help="a saved Keras model")


def add_output(
    parser: argparse.ArgumentParser, metavar: str, text: str, force: bool = True
) -> None:
    """Add the option for the output, and the option that allows overwriting it."""
    parser.add_argument("--output", "-o", required=True, metavar=metavar, help=text)
    if force:
        add_force(parser, "--output")


def add_new_model(parser: argparse.ArgumentParser) -> None:
    """Add the options for the file of the new model."""
    add_output(parser, "OUT.keras", "file for the new model")


def add_force(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the option that allows a command to overwrite its output file."""
    parser.add_argument(
        "--force", action="store_true", help=f"overwrite the file of {option}"
    )


def change_model(arguments: argparse.Namespace, change: Callable[[Any], Any]) -> None:
    """Write a changed copy of a model and print the changes."""
    from keras_vaf.models import report
    from keras_vaf.models.files import change_file

    changed = change_file(arguments.model, arguments.output, change, arguments.force)
    say(report(changed))
    say(f"Written to {arguments.output}.")


def say(*texts: object, sep: str = " ", file: TextIO | None = None) -> None:
    """Print texts whose control characters are escaped.

    Names of files and columns may contain them. Every command prints with this function
    and with `print_table`.
    """
    print(shown(sep.join(map(str, texts))), file=file, flush=True)


def shown(text: str) -> str:
    """Return a text to print, also if `keras_vaf` cannot be imported."""
    if all(map(str.isprintable, text.split("\n"))):
        return text
    try:
        from keras_vaf.utils import visible
    except ImportError:
        return "\n".join(ascii(line)[1:-1] for line in text.split("\n"))
    return visible(text)


def check_packages(extra: str, *names: str) -> None:
    """Raise an error for a package of an extra that is missing, without an import."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise ImportError(
                f"This command needs the package `{name}`, which is not installed. "
                f"Install it with: pip install 'keras-vaf[{extra}]'"
            )


def integer_from(least: int) -> Callable[[str], int]:
    """Return a function that reads an integer from a smallest one on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(
                f"expected an integer of at least {least}, received {text!r}"
            )
        return int(text)

    return read


def integers(text: str) -> tuple[int, ...]:
    """Return the integers of a list such as `"0,1,2"`."""
    return _list(text, int, "integers")


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a list such as `"0.001,0.01"`."""
    return _list(text, float, "numbers")


def _list(text: str, kind: Callable[[str], T], name: str) -> tuple[T, ...]:
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected {name} separated by commas, received {text!r}"
        ) from None


def names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as `"wine,servo"`."""
    return tuple(name for name in text.split(",") if name)


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
    console_class = functools.partial(rich.Console, markup=False, emoji=False)
    console = console_class()
    # A file has no width, unless the user states one.
    wraps = console.is_terminal or "COLUMNS" in os.environ
    (console if wraps else console_class(width=_WIDTH_OF_FILES)).print(table)
    for note in notes:
        console.print(f"- {shown(note)}", highlight=False)
