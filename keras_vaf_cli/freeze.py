"""Turn a saved model into one that needs only Keras.

Replace the trainable activations of a saved model by Keras layers with constants, so
that the new file loads without keras-vaf. Print the largest difference between the
outputs.

example:
  keras-vaf freeze model.keras -o frozen.keras
"""

import argparse

from keras_vaf_cli.shared import add, add_output, change_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `freeze`."""
    add(parser, "model")
    add_output(parser)


def run(arguments: argparse.Namespace) -> None:
    """Freeze the model."""
    from keras_vaf.models import freeze

    change_model(arguments, freeze)
