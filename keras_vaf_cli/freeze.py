"""Turn a saved model into one that needs only Keras.

Replace the trainable activations of a saved model by Keras layers with constants, so
that the new file loads without keras-vaf. Print the largest difference between the
outputs.

example:
  keras-vaf freeze model.keras -o frozen.keras
"""

from typing import Any

from keras_vaf_cli.shared import change_model

ARGUMENTS = {"": ("model", "-o --output", "--force")}


def run(given: dict[str, Any]) -> None:
    """Freeze the model."""
    change_model(given, "freeze")
