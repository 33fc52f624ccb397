"""`keras-vaf simplify`: a saved model with smaller VAFs."""

import argparse

from keras_vaf.cli.model_files import add_model_parser, add_output, write
from keras_vaf.models import simplify

_DESCRIPTION = """\
Take hidden units from the VAFs of a saved model as long as no function changes by more
than the tolerance on [-5, 5]. Prints what was taken and which known function is near.
"""
_EXAMPLES = """\
example:
  keras-vaf simplify model.keras -o smaller.keras --tolerance 0.01
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `simplify` to the commands of `keras-vaf`."""
    parser = add_model_parser(
        subparsers,
        "simplify",
        "take hidden units that do little from a saved model",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_output(parser)
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.01,
        help="largest error allowed for each function (default: %(default)s)",
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Simplify the model."""
    write(
        arguments.model,
        arguments.output,
        lambda model: simplify(model, arguments.tolerance),
    )
    return 0
