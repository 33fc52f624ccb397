"""The recipe: how networks are trained when activations are compared fairly.

Every activation is trained with Adam on mini-batches with early stopping. All of them
try the same learning rates. Validation rows select one of these for each activation. If
an activation selects the lowest or the highest learning rate, all of them also try a
further one (`further_rates`).
"""

from collections.abc import Collection
from typing import Any

ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "prelu", "vaf")
"""The activations that are compared, by their names in `find_arms`.

The first one is the baseline. The VAF starts at the best of the first four.
"""

OPTIMIZER = "Adam"
"""The optimizer, with its default settings but for the learning rate."""

LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01)
"""Learning rates to select from, spaced by factors of about 3."""

BATCH_SIZE = 32
"""Number of rows in a mini-batch."""

PATIENCE = 30
"""Number of epochs without a better validation loss after which training stops."""

MOST_EXTENSIONS = 2
"""Number of further learning rates at each end of the first ones."""

EPOCHS = 300
"""Largest number of epochs."""

FOLDS = 5
"""Number of folds."""

QUICK: dict[str, Any] = {"learning_rates": (0.003,), "epochs": 100, "folds": 3}
"""Settings of the short form, which finds large differences only."""

_FACTOR = 3


def further_rates(
    first: Collection[float],
    tried: Collection[float],
    selected: Collection[float],
) -> list[float]:
    """Return further learning rates, if one at the edge of those tried is selected.

    They are at most one lower and one higher learning rate, by a factor of 3. There are
    none if each side has two that were not tried `first`, or if there was one only.

    >>> further_rates((0.001, 0.01), tried=(0.001, 0.01), selected=(0.01, 0.01))
    [0.03]
    """
    if len(first) < 2:
        return []
    low, high = min(tried), max(tried)
    found = []
    if low in selected and sum(rate < min(first) for rate in tried) < MOST_EXTENSIONS:
        found.append(low / _FACTOR)
    if high in selected and sum(rate > max(first) for rate in tried) < MOST_EXTENSIONS:
        found.append(high * _FACTOR)
    return [float(f"{rate:.1g}") for rate in found]
