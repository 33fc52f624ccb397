"""`keras-vaf simplify`: remove hidden units from the VAFs of a saved model."""

import argparse
from functools import partial

from keras_vaf_cli.shared import add, add_output, change_model

SUMMARY = "remove hidden units that contribute little from a saved model"
DESCRIPTION = """\
Remove hidden units from the VAFs of a saved model while no function changes by more
than the tolerance on [-5, 5]. Print the removed units, and the nearest known function
of each VAF.
"""
EXAMPLES = """\
example:
  keras-vaf simplify model.keras -o smaller.keras --tolerance 0.01
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `simplify`."""
    add(parser, "model")
    add_output(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.01,
        help="largest allowed error of each function (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Simplify the model."""
    from keras_vaf.models import simplify

    change = partial(simplify, tolerance=arguments.tolerance)
    change_model(arguments, change)
