"""Checks of arguments that several functions have."""

import math


def check_tolerance(tolerance: float) -> None:
    """Raise a `ValueError` unless a tolerance is a positive, finite number."""
    number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if not number or not 0 < tolerance < math.inf:
        raise ValueError(
            "`tolerance`, the largest error allowed, must be a positive number. "
            f"Received: tolerance={tolerance!r}"
        )
