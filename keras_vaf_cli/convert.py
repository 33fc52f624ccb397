"""Replace the activations of a saved model by trainable ones.

Replace the fixed activations of a saved model by trainable ones that start at the same
functions. Print the replaced activations, and the others with the reason why they were
kept.

examples:
  keras-vaf convert model.keras -o converted.keras
  keras-vaf convert model.keras -o converted.keras --k 5 --sharing channel
  keras-vaf convert model.keras -o converted.keras --layers 'block1_*,top'
"""

from typing import Any

from keras_vaf_cli.shared import change_model, pick

ARGUMENTS = {
    "": (
        *("model", "-o --output", "--force"),
        *("--layers", "--to", "--k", "--g", "--sharing"),
    )
}


def run(given: dict[str, Any]) -> None:
    """Convert the model."""
    from keras_vaf import layers
    from keras_vaf.utils import check_choice

    words = pick(given, "layers", "k", "g", "sharing")
    if "to" in given:
        classes = {each.layer.__name__: each.layer for each in layers.ACTIVATIONS}
        words["to"] = classes[check_choice("to", given["to"], classes)]
    change_model(given, "convert", **words)
