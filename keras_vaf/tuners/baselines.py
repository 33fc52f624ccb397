"""`BASELINES`, the fixed activations that a search of a VAF is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_vaf.training.seeds import independent_seeds

BASELINES = {"relu": "ReLU", "silu": "SiLU", "gelu": "GELU"}
"""Titles of the fixed activations that a search is compared with."""

LEARNING_RATES = [0.001, 0.003, 0.01, 0.03, 0.1]
"""Learning rates that the trials of a baseline can use."""

FEWEST_ROWS = 30
"""With fewer test rows, no interval of a difference is computed."""

_DRAWS = 2_000
_STARTS = 10_000


def baseline_choices(hp: Any, seed: int) -> tuple[float, int]:
    """Return the learning rate and the seed of a baseline's trial.

    A fixed activation has no hyperparameters. Its trials differ in learning rate and
    initial weights, so that a baseline has as many trials as the VAF.

    Args:
        hp: The hyperparameters of the trial.
        seed: Seed of the fold.
    """
    rate = hp.Choice("learning_rate", LEARNING_RATES, default=0.01)
    start = hp.Int("start", 0, _STARTS)
    [word] = independent_seeds(seed, start, "baseline")
    return rate, word


def baseline_activation(name: str) -> keras.layers.Layer:
    """Return a new activation layer for a key of `BASELINES`."""
    return keras.layers.Activation(name)


def row_errors(y: np.ndarray, outputs: np.ndarray, classes: bool) -> np.ndarray:
    """Return the error of each row: 1 for a wrong class, or the squared error."""
    if classes:
        return (outputs.argmax(axis=1) != y).astype(np.float64)
    return (outputs[:, 0].astype(np.float64) - y) ** 2


def score(errors: np.ndarray, classes: bool) -> float:
    """Return the accuracy or the root mean square error for given errors of rows."""
    mean = float(errors.mean())
    return 1.0 - mean if classes else mean**0.5


def gain(
    ours: np.ndarray, theirs: np.ndarray, classes: bool
) -> tuple[float, tuple[float, float] | None]:
    """Return the improvement of a network over another one on the same test rows.

    Args:
        ours: Errors of the network by row.
        theirs: Errors of the other network by row.
        classes: Whether the errors are wrong classes instead of squared errors.

    Returns:
        The difference in accuracy or RMSE, positive if the network is better, and its
        95% interval from 2,000 bootstrap samples of the test rows. The interval is
        `None` for fewer than 30 rows.
    """
    sign = 1.0 if classes else -1.0
    found = sign * (score(ours, classes) - score(theirs, classes))
    if len(ours) < FEWEST_ROWS:
        return found, None
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(_DRAWS):
        rows = rng.integers(0, len(ours), len(ours))
        difference = score(ours[rows], classes) - score(theirs[rows], classes)
        draws.append(sign * difference)
    low, high = np.quantile(draws, (0.025, 0.975))
    return found, (float(low), float(high))


def search_verdict(scores: Mapping[str, Any], metric: str) -> str:
    """Return a sentence that compares the best trial of a search with the baselines.

    Args:
        scores: The part `"baselines"` of the report of a search.
        metric: `"accuracy"` or `"rmse"`.
    """
    sentences = []
    for name, found in scores.items():
        sentences.append(_difference(BASELINES[name], found["gain"], found["interval"]))
    return f"On these test rows, the VAF is {'; '.join(sentences)}."


def _difference(title: str, gain: float, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return f"compared with {title} on too few rows to tell (gain {gain:+.3g})"
    low, high = interval
    words = f"not different from {title}"
    if low > 0 or high < 0:
        words = f"{'better' if low > 0 else 'worse'} than {title}"
    return (
        f"{words} beyond chance (gain {gain:+.3g}, 95% interval {low:+.3g} to "
        f"{high:+.3g})"
    )
