"""Statistics that are defined for samples of any size."""

import statistics
from collections.abc import Sequence


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation, or 0 for fewer than two values.

    Args:
        values: The sample.

    Example:

    >>> deviation([1.0, 3.0])
    1.4142135623730951
    """
    return statistics.stdev(values) if len(values) > 1 else 0.0
