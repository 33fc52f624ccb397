"""`keras-vaf predict`: predict the rows of a table with a saved network."""

import argparse
import sys
from pathlib import Path

from keras_vaf_cli.shared import add_model, add_output, say
from keras_vaf_cli.tables import add_file_options, file_options

SUMMARY = "predict the rows of a table with a network of compare or search"
DESCRIPTION = """\
Predict the rows of a table with the best.keras of `keras-vaf compare` or `keras-vaf
search`. The table must have the columns of the training table, in any order; the target
may be missing. The output is a copy of the table with additional columns: the
prediction in the units of the target, or the class and the probability of each class.
The cells of a CSV file are written as they were read.
"""
EXAMPLES = """\
example:
  keras-vaf predict runs/houses-1a2b3c4d/best.keras new.csv -o predicted.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `predict`."""
    add_model(parser)
    parser.add_argument("table", metavar="TABLE", help="a CSV, Parquet or Excel file")
    add_output(parser, "OUT", "file for the table with the predictions")
    add_file_options(parser.add_argument_group("format of the table"))


def run(arguments: argparse.Namespace) -> None:
    """Write the predictions."""
    from keras_vaf.datasets.tables.networks import predicted_file
    from keras_vaf.models.files import load_model
    from keras_vaf.utils import check_output, write_atomically

    inputs = (arguments.model, arguments.table)
    path, table = Path(arguments.output), Path(arguments.table)
    check_output(path, arguments.force, inputs)
    model = load_model(arguments.model)
    content, frame = predicted_file(model, table, path, **file_options(arguments))
    for note in frame.attrs["notes"]:
        say(note, file=sys.stderr)
    write_atomically(path, content, arguments.force)
    rows = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
    say(f"Predicted {rows}. Written to {path}.")
