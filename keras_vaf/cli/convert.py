"""`keras-vaf convert`: a saved model with trainable activations."""

import argparse

from keras_vaf import layers
from keras_vaf.cli.model_files import add_model_parser, add_output, write
from keras_vaf.models import convert

_DESCRIPTION = """\
Replace the fixed activations of a saved model by trained ones that start there, so that
it computes the same at first. Prints what was replaced, what was not, and why.
"""
_EXAMPLES = """\
examples:
  keras-vaf convert model.keras -o converted.keras
  keras-vaf convert model.keras -o converted.keras --k 5 --sharing channel
  keras-vaf convert model.keras -o converted.keras --layers 'block1_*,top'
"""
_FAMILY = {
    name: kind
    for name in layers.__all__
    if issubclass(kind := getattr(layers, name), layers.TrainableActivation)
    and kind is not layers.TrainableActivation
}


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `convert` to the commands of `keras-vaf`."""
    parser = add_model_parser(
        subparsers,
        "convert",
        "replace the activations of a saved model by trained ones",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_output(parser)
    parser.add_argument(
        "--layers",
        metavar="NAMES",
        help="names or patterns of layers, separated by commas (default: all hidden "
        "activations)",
    )
    parser.add_argument(
        "--to",
        choices=tuple(_FAMILY),
        default="VAFActivation",
        metavar="CLASS",
        help="class of the new activations (default: %(default)s); also: "
        + ", ".join(name for name in _FAMILY if name != "VAFActivation"),
    )
    parser.add_argument(
        "--k", type=int, default=3, help="hidden units of a VAF (default: %(default)s)"
    )
    parser.add_argument(
        "--g",
        default="relu",
        metavar="ACTIVATION",
        help="fixed activation of a VAF's hidden units, or 'same' for the replaced one "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--sharing",
        choices=("layer", "channel", "neuron"),
        default="layer",
        help="which elements share a function (default: %(default)s)",
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert the model."""
    chosen = arguments.layers and arguments.layers.split(",")
    write(
        arguments.model,
        arguments.output,
        lambda model: convert(
            model,
            layers=chosen,
            to=_FAMILY[arguments.to],
            k=arguments.k,
            g=arguments.g,
            sharing=arguments.sharing,
        ),
    )
    return 0
