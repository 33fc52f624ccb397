"""`keras-vaf data`: the paper's datasets, listed, shown, fetched and checked."""

import argparse
from typing import Any

from keras_vaf.datasets import CATALOGUE, find, load
from keras_vaf.datasets.checksums import check_there
from keras_vaf.datasets.fetching import cache_folder, data_folder
from keras_vaf.datasets.summary import (
    align,
    catalogue_table,
    describe,
    layout,
    plot_distributions,
)
from keras_vaf.utils import markdown_table, write_atomically


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `data` and its actions to the commands of `keras-vaf`."""
    parser = subparsers.add_parser(
        "data",
        help="list, show, fetch and check the paper's datasets",
        description="The datasets of the paper, from their publishers' files.",
        epilog="Example: keras-vaf data show wine",
    )
    actions = parser.add_subparsers(title="actions", required=True)
    for name, (run, description, example, *options) in _ACTIONS.items():
        action = actions.add_parser(
            name,
            help=description,
            description=f"{description.capitalize()}.",
            epilog=f"Example: keras-vaf data {name} {example}".rstrip(),
        )
        for option in options:
            action.add_argument(option, **_OPTIONS[option])
        action.set_defaults(func=run)


def list_datasets(arguments: argparse.Namespace) -> int:
    """Print the catalogue beside the paper's table."""
    header, *lines = catalogue_table()
    if arguments.markdown:
        print(markdown_table(header, lines, text_columns=len(header)))
    else:
        print(*align([header, *lines]), sep="\n")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Print a summary of a dataset, and draw it if asked to."""
    entry = find(arguments.name)
    dataset = load(entry.name, arguments.data_dir)
    print(*describe(dataset), "", sep="\n")
    print(f"publisher: {entry.publisher}\nlicence: {entry.licence}")
    print(f"citation: {entry.citation}")
    for column, reason in entry.left_out.items():
        print(f"left out: {column}, {reason}")
    if entry.difference:
        print(f"difference from the paper: {entry.difference}")
    if arguments.picture:
        path = write_atomically(arguments.picture, plot_distributions(dataset))
        print(f"picture: {path}")
    return 0


def prepare(arguments: argparse.Namespace) -> int:
    """Fetch, check and read datasets one by one."""
    entries = [find(name) for name in arguments.names]
    for entry in entries:
        dataset = load(entry.name, arguments.data_dir)
        print(f"{dataset} from {dataset.source}", flush=True)
        if arguments.tfds_dir is not None:
            from keras_vaf.datasets.tfds_builders import prepare_tfds

            builder = prepare_tfds(entry.name, arguments.data_dir, arguments.tfds_dir)
            print(f"{builder.info.full_name} in {builder.data_dir}", flush=True)
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Check the files that are there; exit code 1 if one is wrong."""
    folder = data_folder(arguments.data_dir) or cache_folder()
    results: dict[str, str] = {}
    for entry in CATALOGUE:
        there = check_there(entry, folder)
        if not there:
            print(f"absent  {entry.name}", flush=True)
        for path in [path for path in there if path not in results]:
            problem = there[path]
            print(f"wrong   {problem}" if problem else f"right   {path}", flush=True)
        results |= there
    wrong = sum(map(bool, results.values()))
    print(f"{len(results)} files in {folder}: {wrong} wrong")
    return 1 if wrong else 0


def show_layout(arguments: argparse.Namespace) -> int:
    """Print where the files belong."""
    print(*layout(), sep="\n")
    return 0


_ACTIONS: dict[str, tuple[Any, ...]] = {
    "list": (list_datasets, "list the datasets beside the paper's", "", "--markdown"),
    "show": (
        show,
        "show classes, ranges and distributions of a dataset",
        "wine --picture wine.png",
        "name",
        "--picture",
        "--data-dir",
    ),
    "prepare": (
        prepare,
        "fetch datasets, check and read them",
        "wine yacht",
        "names",
        "--tfds-dir",
        "--data-dir",
    ),
    "verify": (
        verify,
        "check the files that are there",
        "--data-dir data",
        "--data-dir",
    ),
    "layout": (
        show_layout,
        "print where each file belongs in a data folder, and where to get it",
        "",
    ),
}

_OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"help": "name of a dataset"},
    "names": {"nargs": "+", "metavar": "name", "help": "name of a dataset"},
    "--markdown": {
        "action": "store_true",
        "help": "print the table of the documentation",
    },
    "--picture": {
        "metavar": "FILE",
        "help": "also draw the distributions to a PNG file",
    },
    "--tfds-dir": {
        "metavar": "FOLDER",
        "help": "also prepare them for TensorFlow Datasets in this folder",
    },
    "--data-dir": {
        "metavar": "FOLDER",
        "help": (
            "folder with the publishers' files (default: KERAS_VAF_DATA_DIR, and "
            "without it the files that were fetched)"
        ),
    },
}
