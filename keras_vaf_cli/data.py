"""`keras-vaf data`: list, fetch and check the datasets of the paper."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keras_vaf_cli.shared import add_data_dir, say

if TYPE_CHECKING:
    from keras_vaf.datasets import Entry, Size

SUMMARY = "list, fetch and check the paper's datasets"
DESCRIPTION = "The datasets of the paper, from their publishers' files."
EXAMPLES = "Example: keras-vaf data prepare wine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `data`."""
    actions = parser.add_subparsers(title="actions", required=True)
    parsers = {}
    for name, (function, summary, example) in _ACTIONS.items():
        parsers[name] = actions.add_parser(
            name,
            help=summary,
            description=f"{summary.capitalize()}.",
            epilog=f"Example: keras-vaf data {name} {example}".rstrip(),
        )
        parsers[name].set_defaults(action=function)
    parsers["list"].add_argument(
        "--markdown", action="store_true", help="print the table of the documentation"
    )
    parsers["prepare"].add_argument(
        "names", nargs="+", metavar="name", help="name of a dataset"
    )
    parsers["prepare"].add_argument(
        "--tfds-dir",
        metavar="FOLDER",
        help="also prepare them for TensorFlow Datasets in this folder",
    )
    for name in ("prepare", "verify"):
        add_data_dir(parsers[name])


def run(arguments: argparse.Namespace) -> int | None:
    """Run the chosen action."""
    return arguments.action(arguments)


def list_datasets(arguments: argparse.Namespace) -> None:
    """Print the catalogue next to the table of the paper."""
    from keras_vaf.datasets import CATALOGUE
    from keras_vaf.utils import markdown_table

    header = ["name", "task", "rows", "inputs", "classes", "in the paper", "difference"]
    lines = [
        [
            entry.name,
            entry.task,
            *_size(entry.size, entry.image_shape),
            f"{entry.paper_name}: {_paper_size(entry)}",
            entry.difference,
        ]
        for entry in CATALOGUE
    ]
    if arguments.markdown:
        say(markdown_table(header, lines, text_columns=len(header)))
        return
    rows = [header, *lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(map(str.ljust, row, widths)).rstrip())


def _size(size: "Size", image_shape: Sequence[int] | None = None) -> list[str]:
    inputs = " x ".join(map(str, image_shape or (size.inputs,)))
    return [str(size.rows), inputs, "" if size.classes is None else str(size.classes)]


def _paper_size(entry: "Entry") -> str:
    if entry.paper_size is None:
        return "the same"
    rows, inputs, classes = _size(entry.paper_size)
    text = f"{rows} rows, {inputs} inputs"
    return f"{text}, {classes} classes" if classes else text


def prepare(arguments: argparse.Namespace) -> None:
    """Fetch, check and read datasets one by one."""
    from keras_vaf.datasets import find, load

    names = [find(name).name for name in arguments.names]
    for name in names:
        dataset = load(name, arguments.data_dir)
        say(f"{dataset} from {dataset.source}")
        if arguments.tfds_dir is not None:
            from keras_vaf.datasets.tfds_builders import prepare_tfds

            builder = prepare_tfds(name, arguments.data_dir, arguments.tfds_dir)
            say(f"{builder.info.full_name} in {builder.data_dir}")


def verify(arguments: argparse.Namespace) -> int:
    """Check the existing files, and return exit code 1 if a file is wrong."""
    from keras_vaf.datasets.fetching import cache_folder, data_folder, verify_files

    folder = data_folder(arguments.data_dir) or cache_folder()
    right = wrong = 0
    for file in verify_files(folder):
        if file.path is None:
            say(f"absent  {file.dataset}")
        elif file.problem:
            say(f"wrong   {file.problem}")
            wrong += 1
        else:
            say(f"right   {file.path}")
            right += 1
    say(f"{right + wrong} files in {folder}: {wrong} wrong")
    return 1 if wrong else 0


def show_layout(arguments: argparse.Namespace) -> None:
    """Print the expected path of each file."""
    from keras_vaf.datasets import CATALOGUE

    for entry in CATALOGUE:
        say(f"{entry.name}: {entry.publisher}")
        for position, source in enumerate(entry.sources):
            if position:
                say("  or" + (f", {source.note}" if source.note else ""))
            if source.package:
                say(f"  the package {source.package}")
            for file in source.files:
                size = "" if file.size is None else f"  {file.size} bytes"
                say(f"  {file.path}{size}", *file.urls, sep="\n    ")


_ACTIONS = {
    "list": (list_datasets, "list the datasets next to those of the paper", ""),
    "prepare": (prepare, "fetch datasets, check and read them", "wine yacht"),
    "verify": (verify, "check the files in a data folder", "--data-dir data"),
    "layout": (
        show_layout,
        "print the path of each file in a data folder, and its address",
        "",
    ),
}
