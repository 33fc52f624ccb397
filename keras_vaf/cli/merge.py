"""`keras-vaf merge`: the folders of several shards put together."""

import argparse
import sys

from keras_vaf.cli.shared import add_command
from keras_vaf.experiments import merge

_DESCRIPTION = """\
Copy the reports and networks of several output folders into one, such as those that
the shards of a run have written. The same command without --shard then makes the table.
"""
_EXAMPLES = """\
example:
  keras-vaf compare wine --shard 1/2 --output a
  keras-vaf compare wine --shard 2/2 --output b
  keras-vaf merge a b --output runs
  keras-vaf compare wine --output runs
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `merge` to the commands of `keras-vaf`."""
    parser = add_command(
        subparsers,
        "merge",
        "put the folders of several shards together",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("folders", nargs="+", help="output folders of a run")
    parser.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="FOLDER",
        help="the folder to copy to",
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Merge the folders, and say what was copied."""
    merged = merge(arguments.folders, arguments.output)
    for path in merged.left_out:
        print(
            f"keras-vaf: {path} is no report of its training and was left out.",
            file=sys.stderr,
        )
    print(
        f"Copied {merged.copied} reports to {arguments.output}; {merged.there} were "
        "there already."
    )
    return 0
