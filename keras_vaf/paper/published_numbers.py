"""`published`, the numbers of the paper's tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from keras_vaf.utils import require

if TYPE_CHECKING:
    import pandas

_FILE = Path(__file__).with_name("published.json")

NUMBERS = json.loads(_FILE.read_text(encoding="utf-8"))
"""Mean, deviation and architecture by part, dataset and activation."""


def published() -> pandas.DataFrame:
    """Return the numbers of the paper's tables.

    - `part`: `"regression"`, `"classification"`, `"cnet_A"` or `"cnet_B"`.
    - `dataset`, `activation`: Their names. The paper does not say which random start it
      used, so that `vaf-random-rescaled` has the numbers of `vaf-random`.
    - `published`, `published_deviation`: Mean and deviation of ten folds: root mean
      square error, or accuracy. Networks `cnet_B` were trained once, so that they have
      no deviation.
    - `published_hidden`: Widths of the hidden layers, or numbers of filters.

    The paper selected learning rate and architecture by test scores.

    Raises:
        ImportError: If pandas is not installed.

    Example:

    >>> numbers = keras_vaf.paper.published().set_index(["dataset", "activation"])
    >>> float(numbers.loc[("wine", "relu"), "published"])
    0.8879
    """
    names = ("part", "dataset", "activation")
    columns = [*names, "published", "published_deviation", "published_hidden"]
    rows = [
        [part, dataset, activation, *numbers]
        for part, datasets in NUMBERS.items()
        for dataset, activations in datasets.items()
        for activation, numbers in activations.items()
    ]
    rows += [
        [part, dataset, "vaf-random-rescaled", *numbers]
        for part, dataset, activation, *numbers in rows
        if activation == "vaf-random"
    ]
    return require("pandas", extra="experiments").DataFrame(rows, columns=columns)
