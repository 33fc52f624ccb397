"""`keras-vaf data`: list, show, fetch and check the datasets of the paper."""

import argparse

from keras_vaf_cli.shared import add_data_dir, add_force, say

SUMMARY = "list, show, fetch and check the paper's datasets"
DESCRIPTION = "The datasets of the paper, from their publishers' files."
EXAMPLES = "Example: keras-vaf data show wine"


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
    parsers["show"].add_argument("name", help="name of a dataset")
    parsers["show"].add_argument(
        "--picture", metavar="FILE", help="also draw the distributions to a PNG file"
    )
    add_force(parsers["show"], "--picture")
    parsers["prepare"].add_argument(
        "names", nargs="+", metavar="name", help="name of a dataset"
    )
    parsers["prepare"].add_argument(
        "--tfds-dir",
        metavar="FOLDER",
        help="also prepare them for TensorFlow Datasets in this folder",
    )
    for name in ("show", "prepare", "verify"):
        add_data_dir(parsers[name])


def run(arguments: argparse.Namespace) -> int | None:
    """Run the chosen action."""
    return arguments.action(arguments)


def list_datasets(arguments: argparse.Namespace) -> None:
    """Print the catalogue next to the table of the paper."""
    from keras_vaf.datasets.summary import align, catalogue_table
    from keras_vaf.utils import markdown_table

    header, *lines = catalogue_table()
    if arguments.markdown:
        say(markdown_table(header, lines, text_columns=len(header)))
    else:
        say(*align([header, *lines]), sep="\n")


def show(arguments: argparse.Namespace) -> None:
    """Print a summary of a dataset, and draw it on request."""
    from keras_vaf.datasets import find, load
    from keras_vaf.datasets.summary import describe, describe_entry, plot_distributions
    from keras_vaf.utils import check_output, write_atomically

    if arguments.picture:
        check_output(arguments.picture, arguments.force)
    dataset = load(arguments.name, arguments.data_dir)
    say(*describe(dataset), "", *describe_entry(find(arguments.name)), sep="\n")
    if arguments.picture:
        picture = plot_distributions(dataset)
        path = write_atomically(arguments.picture, picture, arguments.force)
        say(f"picture: {path}")


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
    from keras_vaf.datasets.summary import layout

    say(*layout(), sep="\n")


_ACTIONS = {
    "list": (list_datasets, "list the datasets next to those of the paper", ""),
    "show": (
        show,
        "show classes, ranges and distributions of a dataset",
        "wine --picture wine.png",
    ),
    "prepare": (prepare, "fetch datasets, check and read them", "wine yacht"),
    "verify": (verify, "check the files in a data folder", "--data-dir data"),
    "layout": (
        show_layout,
        "print the path of each file in a data folder, and its address",
        "",
    ),
}
