"""The comparisons whose numbers were recorded from the version at commit 8533b88."""

from pathlib import Path
from typing import Any

from keras_vaf.datasets import Dataset, load, read_table
from keras_vaf.training import recipe

FOLDER = Path(__file__).parent
COMPARED = ",".join(recipe.ACTIVATIONS)
SMALL = {"hidden": (8, 4), "learning_rates": (0.003, 0.03), "epochs": 8, "folds": 3}
GROWN = {"hidden": (4,), "epochs": 3, "folds": 2}

# Data, activations, settings and seeds of each comparison. The first three are those of
# `keras-vaf compare DATA --quick`. In the case "grown", an activation selects the
# highest learning rate, so that all of them get a further one.
CASES: dict[str, tuple[str, str, dict[str, Any], tuple[int, ...]]] = {
    "wine": ("wine", COMPARED, recipe.QUICK, (0,)),
    "servo": ("servo", COMPARED, recipe.QUICK, (0,)),
    "messy": ("messy", COMPARED, recipe.QUICK, (0,)),
    "small": ("messy", "relu,vaf-relu,vaf-random", SMALL, (0,)),
    "grown": ("servo", "relu,vaf-random", GROWN, (0,)),
    "dropped": ("messy", "relu,prelu", {**SMALL, "missing": "drop"}, (0, 3)),
    "groups": ("groups", "relu,prelu", SMALL, (0,)),
    "time": ("time", "relu,prelu", SMALL, (0,)),
}


def dataset(name: str) -> Dataset:
    """Return a dataset of the catalogue, or the table with missing cells."""
    if name == "messy":
        return read_table(FOLDER / "messy.csv", "price")
    if name in ("groups", "time"):
        return read_table(FOLDER / "messy.csv", "price", **{name: "rooms"})
    return load(name)
