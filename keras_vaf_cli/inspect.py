"""Show what the activations of a saved model have learned.

List the trainable activations of a saved model, each with the known function nearest to
it on [-10, 10], and draw them. The table says "no known function" if the largest error
is above 2 % of the range of the learned function's values.

examples:
  keras-vaf inspect model.keras
  keras-vaf inspect model.keras --picture functions.png
  keras-vaf inspect model.keras --formula latex
"""

import argparse
from typing import Any

from keras_vaf_cli.shared import add, print_table, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `inspect`."""
    add(parser, "model", "--force")
    parser.add_argument(
        "--picture", metavar="FILE.png", help="draw the functions to this file"
    )
    parser.add_argument(
        "--formula",
        metavar="FORM",
        nargs="?",
        const="text",
        choices=("text", "latex", "python"),
        help="print the functions as formulas: text (the default), latex or python",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the table, and draw the picture."""
    from keras_vaf.layers.activation_inputs import trainable_activations
    from keras_vaf.models import formula, nearest
    from keras_vaf.models.files import load_model
    from keras_vaf.models.fixed import label
    from keras_vaf.utils import check_output, png_bytes, write_atomically
    from keras_vaf.visualization import plot_activations

    if arguments.picture is not None:
        check_output(arguments.picture, arguments.force, [arguments.model])
    model = load_model(arguments.model, compile=False)
    rows = [
        (path, label(layer), layer.sharing, layer.count_params(), nearest(layer))
        for path, layer in trainable_activations(model).items()
    ]
    print_table(
        f"{model.name}: {len(rows)} trainable activations",
        ("layer", "activation", "sharing", "parameters", "nearest known function"),
        [list(map(str, row)) for row in rows],
        (),
    )
    if arguments.formula is not None:
        say(formula(model, arguments.formula))
    if arguments.picture is not None:
        axes: Any = plot_activations(model)
        picture = png_bytes(axes[0].figure, dpi=120)
        write_atomically(arguments.picture, picture, arguments.force)
        say(f"Drawn to {arguments.picture}.")
