"""`keras-vaf data`: list, fetch and check the datasets of the paper."""

import argparse

from keras_vaf_cli.shared import add_data_dir, say

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
    from keras_vaf.datasets.listing import align, catalogue_table
    from keras_vaf.utils import markdown_table

    header, *lines = catalogue_table()
    if arguments.markdown:
        say(markdown_table(header, lines, text_columns=len(header)))
    else:
        say(*align([header, *lines]), sep="\n")


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
    from keras_vaf.datasets.checksums import verify_files
    from keras_vaf.datasets.fetching import cache_folder, data_folder

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
    from keras_vaf.datasets.listing import layout

    say(*layout(), sep="\n")


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
