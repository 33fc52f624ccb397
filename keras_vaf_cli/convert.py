"""Replace the activations of a saved model by trainable ones.

Replace the fixed activations of a saved model by trainable ones that start at the same
functions. Print the replaced activations, and the others with the reason why they were
kept.

examples:
  keras-vaf convert model.keras -o converted.keras
  keras-vaf convert model.keras -o converted.keras --k 5 --sharing channel
  keras-vaf convert model.keras -o converted.keras --layers 'block1_*,top'
"""

import argparse
from functools import partial

from keras_vaf_cli.shared import add, add_output, change_model, names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `convert`."""
    add(parser, "model")
    add_output(parser)
    parser.add_argument(
        "--layers",
        type=names,
        help="names or patterns of layers (default: all hidden activations)",
    )
    parser.add_argument(
        "--to",
        default="VAFActivation",
        metavar="CLASS",
        help="class of the new activations (default: %(default)s)",
    )
    parser.add_argument("--k", type=int, help="hidden units of a VAF (default: 3)")
    parser.add_argument(
        "--g",
        help="their fixed activation (default: one with which the start is exact)",
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
    from keras_vaf.utils import check_choice

    classes = {each.layer.__name__: each.layer for each in layers.ACTIVATIONS}
    kind = classes[check_choice("to", arguments.to, classes)]
    words = {name: getattr(arguments, name) for name in ("layers", "k", "g", "sharing")}
    change_model(arguments, partial(convert, to=kind, **words))
