"""`keras-vaf freeze`: a saved model that needs nothing but Keras."""

import argparse

from keras_vaf.cli.model_files import add_model_parser, add_output, write
from keras_vaf.models import freeze

_DESCRIPTION = """\
Turn the VAFs of a saved model into layers of Keras with constants, so that the new file
loads where keras-vaf is not installed. Prints the largest difference of the outputs.
"""
_EXAMPLES = """\
example:
  keras-vaf freeze model.keras -o frozen.keras
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `freeze` to the commands of `keras-vaf`."""
    parser = add_model_parser(
        subparsers,
        "freeze",
        "turn a saved model into one that needs nothing but Keras",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_output(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Freeze the model."""
    write(arguments.model, arguments.output, freeze)
    return 0
