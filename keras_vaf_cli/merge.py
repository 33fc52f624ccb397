"""`keras-vaf merge`: merge the output folders of several shards."""

import argparse
import sys

from keras_vaf_cli.shared import add_output, say

SUMMARY = "merge the output folders of several shards"
DESCRIPTION = """\
Copy the reports and networks of several output folders, such as those of a run's
shards, into one. The same command without --shard then makes the table.
"""
EXAMPLES = """\
example:
  keras-vaf compare wine --shard 1/2 --output a
  keras-vaf compare wine --shard 2/2 --output b
  keras-vaf merge a b --output runs
  keras-vaf compare wine --output runs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `merge`."""
    parser.add_argument("folders", nargs="+", help="output folders of a run")
    add_output(parser, "FOLDER", "folder to which the reports are copied", force=False)


def run(arguments: argparse.Namespace) -> None:
    """Merge the folders and print the number of copied reports."""
    from keras_vaf.experiments import merge

    merged = merge(arguments.folders, arguments.output)
    for path in merged.left_out:
        say(
            f"keras-vaf: {path} is not a valid report and was left out.",
            file=sys.stderr,
        )
    say(
        f"Copied {merged.copied} reports to {arguments.output}; {merged.there} were "
        "there already."
    )
