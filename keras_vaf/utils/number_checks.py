"""`check_integer`, `check_number` and other checks of numbers."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from keras_vaf.utils.checks import check_distinct


def check_integer(name: str, value: int, minimum: int = 1) -> int:
    """Check that an argument is an integer of at least `minimum`, and return it.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        minimum: Smallest allowed integer.

    Returns:
        The integer as a Python number, also if `value` is a NumPy integer.

    Raises:
        ValueError: If the argument is not an integer, or is below `minimum`.

    Example:

    >>> check_integer("k", 3)
    3
    """
    value = _python_number(value)
    if not _is_integer(value) or value < minimum:
        raise ValueError(
            f"`{name}` must be an integer of at least {minimum}. "
            f"Received: {name}={value!r}"
        )
    return value


def check_sizes(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Check that an argument is a sequence of positive integers, and return a tuple.

    Args:
        name: Name of the argument, for the error message.
        values: The argument.

    Raises:
        ValueError: If the argument is not a sequence of positive integers.

    Example:

    >>> check_sizes("hidden", [100, 50])
    (100, 50)
    """
    try:
        return tuple(check_integer(name, value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(
            f"`{name}` must be a sequence of positive integers, such as (100, 50). "
            f"Received: {name}={values!r}"
        ) from None


def check_number(
    name: str,
    value: float,
    minimum: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Check that an argument is a finite number within bounds, and return it.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        minimum: Smallest allowed number.
        above: Exclusive lower bound.
        below: Exclusive upper bound.

    Returns:
        The number as a Python number, also if `value` is a NumPy number.

    Raises:
        ValueError: If the argument is not a finite number or is out of bounds.

    Example:

    >>> check_number("factor", 0.5, minimum=0)
    0.5
    """
    value = _python_number(value)
    if not _is_finite(value) or not _within(value, minimum, above, below):
        bounds = " and".join(
            f" {words} {bound:g}"
            for words, bound in (
                ("of at least", minimum),
                ("above", above),
                ("below", below),
            )
            if math.isfinite(bound)
        )
        raise ValueError(
            f"`{name}` must be a finite number{bounds}. Received: {name}={value!r}"
        )
    return value


def check_numbers(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Check that an argument is a sequence of finite numbers, and return a tuple.

    Args:
        name: Name of the argument, for the error message.
        values: The argument.

    Raises:
        ValueError: If the argument is not a sequence of finite numbers.

    Example:

    >>> check_numbers("knots", [-1, 0.5])
    (-1.0, 0.5)
    """
    try:
        return tuple(float(check_number(name, value)) for value in values)
    except (TypeError, ValueError):
        raise ValueError(
            f"`{name}` must be a sequence of finite numbers, such as (-1.0, 0.5). "
            f"Received: {name}={values!r}"
        ) from None


def check_positive(name: str, value: float) -> float:
    """Check that an argument is a finite number above 0, and return it.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.

    Raises:
        ValueError: If the argument is not a finite number above 0.

    Example:

    >>> check_positive("boundary", 3.0)
    3.0
    """
    return check_number(name, value, above=0)


def check_seeds(name: str, values: Sequence[int]) -> None:
    """Check that seeds are different integers that every random generator accepts.

    Equal seeds would count as independent repetitions and understate the deviation.

    Args:
        name: Name of the argument, for the error message.
        values: The argument.

    Raises:
        ValueError: If `values` is empty, if a seed is not an integer from 0 to
            4294967295, or if two seeds are equal.

    Example:

    >>> check_seeds("seeds", (0, 1, 2))
    """
    listed = isinstance(values, Sequence | np.ndarray) and len(values)
    if not listed or not all(_is_integer(v) and 0 <= v < 2**32 for v in values):
        raise ValueError(
            f"`{name}` must be integers from 0 to {2**32 - 1}, such as (0, 1, 2). "
            f"Received: {name}={values!r}"
        )
    check_distinct(name, values)


def _is_finite(value: object) -> bool:
    """Return whether a value is a number that float64 can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _within(value: float, minimum: float, above: float, below: float) -> bool:
    return minimum <= value and above < value < below


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _python_number(value: Any) -> Any:
    """Return a number of NumPy as a Python number, which JSON supports."""
    scalar = isinstance(value, np.ndarray) and value.ndim == 0
    return value.item() if scalar or isinstance(value, np.number) else value
