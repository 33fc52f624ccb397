"""Remove hidden units that contribute little from a saved model.

Remove hidden units from the VAFs of a saved model while no function changes by more
than the tolerance on [-10, 10]. Print the removed units, and the nearest known function
of each VAF.

example:
  keras-vaf simplify model.keras -o smaller.keras --tolerance 0.01
"""

import argparse
from functools import partial

from keras_vaf_cli.shared import add, add_output, change_model


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

    change_model(arguments, partial(simplify, tolerance=arguments.tolerance))
