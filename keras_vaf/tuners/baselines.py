"""Fixed activations compared with a search, with as many trials: `BASELINES`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_vaf.training.seeds import independent_seeds

BASELINES = {"relu": "ReLU", "silu": "SiLU"}
"""Titles of the fixed activations that a search is compared with."""

LEARNING_RATES = [0.001, 0.003, 0.01, 0.03, 0.1]
"""Learning rates that a baseline chooses from."""

FEWEST_ROWS = 30
"""Fewer test rows show no interval of a difference."""

_DRAWS = 2_000
_STARTS = 10_000


def baseline_choices(hp: Any, seed: int) -> tuple[float, int]:
    """Return learning rate and seed of a baseline's trial.

    A fixed activation has no hyperparameters. Its trials differ in learning rate and
    starting weights, so that a baseline has as many tries as the VAF.

    Args:
        hp: The hyperparameters of the trial.
        seed: Seed of the fold.
    """
    rate = hp.Choice("learning_rate", LEARNING_RATES, default=0.01)
    start = hp.Int("start", 0, _STARTS)
    [word] = independent_seeds(seed, start, "baseline")
    return rate, word


def baseline_activation(name: str) -> keras.layers.Layer:
    """Return a fresh layer of a key of `BASELINES`."""
    return keras.layers.Activation(name)


def row_errors(y: np.ndarray, outputs: np.ndarray, classes: bool) -> np.ndarray:
    """Return for each row whether its class is wrong, or its squared error."""
    if classes:
        return (outputs.argmax(axis=1) != y).astype(np.float64)
    return (outputs[:, 0].astype(np.float64) - y) ** 2


def score(errors: np.ndarray, classes: bool) -> float:
    """Return accuracy or root mean square error from the errors of rows."""
    mean = float(errors.mean())
    return 1.0 - mean if classes else mean**0.5


def gain(
    ours: np.ndarray, theirs: np.ndarray, classes: bool
) -> tuple[float, tuple[float, float] | None]:
    """Return how much better a network is than another one on the same test rows.

    Args:
        ours: Errors of its rows.
        theirs: Errors of the other network.
        classes: Whether the errors are those of classes.

    Returns:
        The difference of accuracy or RMSE, positive if it is better, and its 95%
        interval: 2,000 draws of the test rows. Fewer than 30 rows have no interval.
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
    """Return in words how the best trial of a search compares with the baselines.

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
