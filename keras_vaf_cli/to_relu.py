"""Turn a saved model into one whose only activation is ReLU.

Replace the activations of a saved model by sums of ReLU units, without labels and
without training. Print what was replaced, what is left, and the largest difference
between the outputs. The new file loads without keras-vaf.

examples:
  keras-vaf to-relu model.keras -o relu.keras --data inputs.npy
  keras-vaf to-relu model.keras -o relu.keras --data inputs.npy --k 3 --widen
"""

from typing import Any

from keras_vaf_cli.shared import change_model, pick

ARGUMENTS = {"": ("model", "-o --output", "--force", "--data", "--k", "--widen")}


def run(given: dict[str, Any]) -> None:
    """Write the model with ReLU alone."""
    import numpy as np

    words = pick(given, "k", "widen")
    if "data" in given:
        try:
            words["data"] = np.load(given["data"])
            words["data"].shape  # noqa: B018 (an .npz archive has none)
        except (ValueError, EOFError, AttributeError) as error:
            raise ValueError(
                "`--data` must be an array that `numpy.save` wrote. Received: "
                f"{given['data']}"
            ) from error
    change_model(given, "to_relu", **words)
