"""`keras-vaf convert`: replace the activations of a saved model by trainable ones."""

import argparse
from functools import partial

from keras_vaf_cli.choices import LAYERS
from keras_vaf_cli.shared import add, add_output, change_model, names

SUMMARY = "replace the activations of a saved model by trainable ones"
DESCRIPTION = """\
Replace the fixed activations of a saved model by trainable ones that start at the same
functions. Print the replaced activations, and the others with the reason why they were
kept.
"""
EXAMPLES = """\
examples:
  keras-vaf convert model.keras -o converted.keras
  keras-vaf convert model.keras -o converted.keras --k 5 --sharing channel
  keras-vaf convert model.keras -o converted.keras --layers 'block1_*,top'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `convert`."""
    add(parser, "model")
    add_output(parser)
    parser.add_argument(
        "--layers",
        type=names,
        metavar="NAMES",
        help="names or patterns of layers, separated by commas (default: all hidden "
        "activations)",
    )
    default, *others = LAYERS
    parser.add_argument(
        "--to",
        choices=LAYERS,
        default=default,
        metavar="CLASS",
        help="class of the new activations (default: %(default)s); also: "
        + ", ".join(others),
    )
    parser.add_argument("--k", type=int, help="hidden units of a VAF (default: 3)")
    parser.add_argument(
        "--g",
        metavar="ACTIVATION",
        help="fixed activation of a VAF's hidden units (default: one for which the "
        "start is exact, for each function)",
    )
    parser.add_argument(
        "--sharing",
        choices=("layer", "channel", "neuron"),
        default="layer",
        help="elements that share a function (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Convert the model."""
    from keras_vaf import layers
    from keras_vaf.models import convert

    change = partial(
        convert,
        layers=arguments.layers,
        to=getattr(layers, arguments.to),
        k=arguments.k,
        g=arguments.g,
        sharing=arguments.sharing,
    )
    change_model(arguments, change)
