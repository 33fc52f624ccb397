"""`deviation`, the standard deviation of samples of any size."""

import math
import statistics
from collections.abc import Sequence


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation, or 0 for fewer than two values.

    The result is NaN if a value is not finite, such as the error of a network that
    diverged.

    Args:
        values: The sample.

    Example:

    >>> deviation([1.0, 3.0])
    1.4142135623730951
    """
    if not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values) if len(values) > 1 else 0.0
