"""`keras-vaf inspect`: what the activations of a saved model have learned."""

import argparse
import io
from typing import Any

from keras_vaf.cli.model_files import add_model_parser, load
from keras_vaf.cli.shared import print_table
from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import nearest
from keras_vaf.models.surgery.fixed_activations import label
from keras_vaf.utils import write_atomically
from keras_vaf.visualization import plot_activations

_DESCRIPTION = """\
List the trainable activations of a saved model, with the known function that each is
nearest to on [-10, 10], and draw them.
"""
_EXAMPLES = """\
examples:
  keras-vaf inspect model.keras
  keras-vaf inspect model.keras --picture functions.png
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `inspect` to the commands of `keras-vaf`."""
    parser = add_model_parser(
        subparsers,
        "inspect",
        "show what the activations of a saved model have learned",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "--picture", metavar="FILE.png", help="draw the functions to this file"
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, and draw the picture."""
    model = load(arguments.model)
    found = find_layers(model, TrainableActivation)
    if not found:
        raise ValueError(
            "Expected a model with a trainable activation of keras_vaf.layers; "
            "`keras-vaf convert` makes one. "
            f"Received: {arguments.model} with none"
        )
    print_table(
        f"{model.name}: {len(found)} trainable activations",
        ("layer", "activation", "sharing", "parameters", "nearest known function"),
        [_line(path, layer) for path, layer in found.items()],
        (),
    )
    if arguments.picture is not None:
        figure: Any = plot_activations(model)[0].figure
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=120)
        write_atomically(arguments.picture, picture.getvalue())
        print(f"Drawn to {arguments.picture}.")
    return 0


def _line(path: str, layer: TrainableActivation) -> list[str]:
    sharing, parameters = str(layer.sharing), str(layer.count_params())
    return [path, label(layer), sharing, parameters, str(nearest(layer))]
