"""Show what the activations of a saved model have learned.

List the trainable activations of a saved model, each with the known function nearest to
it on [-10, 10], and draw them. The table has "no known function" if the largest error
is above 2 % of the range of the learned function's values.

examples:
  keras-vaf inspect model.keras
  keras-vaf inspect model.keras --picture functions.png
  keras-vaf inspect model.keras --formula latex
"""

from pathlib import Path
from typing import Any

from keras_vaf_cli.shared import print_table, say

ARGUMENTS = {"": ("model", "--picture", "--force", "--formula")}


def run(given: dict[str, Any]) -> None:
    """Print the table, and draw the picture."""
    from keras_vaf.layers.activation_inputs import trainable_activations
    from keras_vaf.models import formula, nearest
    from keras_vaf.models.files import load_model
    from keras_vaf.models.fixed import label
    from keras_vaf.utils import atomic_path, check_choice, check_output
    from keras_vaf.visualization import plot_activations

    picture, force = given.get("picture"), "force" in given
    if picture is not None:
        suffix = Path(picture).suffix or ".png"
        check_choice("picture", suffix, (".png", ".svg", ".pdf", ".jpg"))
        check_output(picture, force, [given["model"]])
    model = load_model(given["model"], compile=False)
    rows = [
        (path, label(layer), layer.sharing, layer.count_params(), nearest(layer))
        for path, layer in trainable_activations(model).items()
    ]
    print_table(
        f"{model.name}: {len(rows)} trainable activations",
        ("layer", "activation", "sharing", "parameters", "nearest known function"),
        [list(map(str, row)) for row in rows],
    )
    if "formula" in given:
        say(formula(model, given["formula"]))
    if picture is not None:
        axes: Any = plot_activations(model)
        with atomic_path(picture, force=force) as temporary:
            axes[0].figure.savefig(temporary, format=suffix[1:], dpi=120)
        say(f"Drawn to {picture}.")
