"""`keras-vaf predict`: predict the rows of a table with a saved network."""

import argparse
import sys

from keras_vaf_cli.shared import add_model, add_output
from keras_vaf_cli.tables import add_file_options, command_that_solves, file_options

SUMMARY = "predict the rows of a table with a network of compare or search"
DESCRIPTION = """\
Predict the rows of a table with the best.keras of `keras-vaf compare` or `keras-vaf
search`. The table must have the columns of the training table, in any order; the target
may be missing. The output contains all columns of the table, followed by the prediction
in the units of the target, or by the class and the probability of each class.
"""
EXAMPLES = """\
example:
  keras-vaf predict runs/houses-1a2b3c4d/best.keras new.csv -o predicted.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `predict`."""
    add_model(parser)
    parser.add_argument("table", metavar="TABLE", help="a CSV, Parquet or Excel file")
    add_output(parser, "OUT.csv", "file for the table with the predictions")
    add_file_options(parser.add_argument_group("format of the table"))


def run(arguments: argparse.Namespace) -> None:
    """Write the predictions."""
    from keras_vaf.datasets.tables.networks import predict_table
    from keras_vaf.models.files import load_model
    from keras_vaf.utils import check_output, write_atomically

    inputs = (arguments.model, arguments.table)
    path = check_output(arguments.output, arguments.force, inputs)
    model = load_model(arguments.model)
    with command_that_solves(arguments):
        predicted = predict_table(model, arguments.table, **file_options(arguments))
    for note in predicted.attrs["notes"]:
        print(note, file=sys.stderr)
    write_atomically(path, predicted.to_csv(index=False), arguments.force)
    rows = "1 row" if len(predicted) == 1 else f"{len(predicted):,} rows"
    print(f"Predicted {rows}. Written to {path}.")
