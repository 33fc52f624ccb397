"""Remove hidden units that contribute little from a saved model.

Remove hidden units from the VAFs of a saved model while no function changes by more
than the tolerance on [-10, 10]. Print the removed units, and the nearest known function
of each VAF.

example:
  keras-vaf simplify model.keras -o smaller.keras --tolerance 0.01
"""

from typing import Any

from keras_vaf_cli.shared import change_model

ARGUMENTS = {"": ("model", "-o --output", "--force", "--tolerance")}


def run(given: dict[str, Any]) -> None:
    """Simplify the model."""
    change_model(given, "simplify", tolerance=given.get("tolerance", 0.01))
