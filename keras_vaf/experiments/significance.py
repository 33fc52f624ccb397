"""Significance tests for cross-validated scores."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from pandas import Series

from keras_vaf.utils import check_integer, check_number, check_numbers, require

LEVEL = 0.05
"""Differences whose p-value is below this level are significant."""


def corrected_t_test(differences: Sequence[float], test_fraction: float) -> float:
    """Return the p-value of the corrected resampled t-test.

    Folds share training rows, so the p-values of a plain t-test are too small. This
    test takes the variance of the mean as 1 / n + f / (1 - f) times that of the
    differences, where f is the share of test rows (Nadeau and Bengio, 2003).

    Args:
        differences: Differences of two scores, one per fold.
        test_fraction: Share of the rows in a test fold.

    Returns:
        The two-sided p-value; 1 if all differences are 0.

    Raises:
        ValueError: If there are fewer than two differences, or if a number is wrong.

    Example:

    >>> round(corrected_t_test([0.02, 0.01, 0.03, 0.02], test_fraction=0.25), 3)
    0.049
    """
    error, t = _error_of_mean(differences, test_fraction)
    mean = statistics.fmean(differences)
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * t.sf(abs(mean) / error))


def corrected_interval(differences: Sequence[float], test_fraction: float) -> float:
    """Return half the width of the 95% confidence interval of the mean difference.

    The interval contains 0 if and only if the p-value of `corrected_t_test`, which has
    the same arguments, is above 0.05.

    Raises:
        ValueError: As in `corrected_t_test`.

    Example:

    >>> round(corrected_interval([0.02, 0.01, 0.03, 0.02], test_fraction=0.25), 4)
    0.0198
    """
    error, t = _error_of_mean(differences, test_fraction)
    return float(t.isf(LEVEL / 2) * error)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979), in the same order.

    Raises:
        ValueError: If a p-value is not a number from 0 to 1.

    Example:

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    if not all(0 <= p <= 1 for p in check_numbers("p_values", p_values)):
        raise ValueError(
            f"`p_values` must be numbers from 0 to 1. Received: {p_values!r}"
        )
    p = Series(p_values, dtype="float64").sort_values()
    corrected = (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1)
    return corrected.sort_index().tolist()


def _error_of_mean(
    differences: Sequence[float], test_fraction: float
) -> tuple[float, Any]:
    """Return the standard error of the mean, and its t-distribution."""
    check_numbers("differences", differences)
    check_number("test_fraction", test_fraction, minimum=0, below=1)
    folds = check_integer("the number of differences", len(differences), minimum=2)
    factor = 1 / folds + test_fraction / (1 - test_fraction)
    distribution = require("scipy.stats", extra="experiments").t(folds - 1)
    return math.sqrt(factor * statistics.variance(differences)), distribution
