"""Checks of arguments, with one wording of the errors for the whole package."""

import difflib
import math
from collections.abc import Iterable, Sequence


def check_integer(name: str, value: int, minimum: int = 1) -> int:
    """Return an integer that is large enough.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        minimum: Smallest integer allowed.

    Raises:
        ValueError: If the argument is not an integer or is too small.

    Example:

    >>> check_integer("k", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(
            f"`{name}` must be an integer of at least {minimum}. "
            f"Received: {name}={value!r}"
        )
    return value


def check_number(
    name: str, value: float, minimum: float = -math.inf, above: float = -math.inf
) -> float:
    """Return a finite number within bounds.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        minimum: Smallest number allowed.
        above: Bound that the number must exceed.

    Raises:
        ValueError: If the argument is not a finite number or is out of bounds.

    Example:

    >>> check_number("factor", 0.5, minimum=0)
    0.5
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < minimum or value <= above:
        bounds = "".join(
            f" {words} {bound:g}"
            for words, bound in (("of at least", minimum), ("above", above))
            if bound != -math.inf
        )
        raise ValueError(
            f"`{name}` must be a finite number{bounds}. Received: {name}={value!r}"
        )
    return value


def check_positive(name: str, value: float) -> float:
    """Return a finite number above 0.

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


def check_flag(name: str, value: bool) -> bool:
    """Return True or False.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.

    Raises:
        ValueError: If the argument is neither.

    Example:

    >>> check_flag("trainable", True)
    True
    """
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` must be True or False. Received: {name}={value!r}")
    return value


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return a name that is one of several.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        choices: The names allowed.

    Raises:
        ValueError: If the argument is none of them. The message has the nearest one.

    Example:

    >>> check_choice("task", "regression", ("classification", "regression"))
    'regression'
    """
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(map(repr, choices))
        raise ValueError(
            f"`{name}` must be one of {allowed}.{did_you_mean(value, choices)} "
            f"Received: {name}={value!r}"
        )
    return value


def check_distinct(name: str, values: Sequence[object]) -> None:
    """Refuse values that occur more than once.

    Args:
        name: Name of the argument, for the error message.
        values: The argument.

    Raises:
        ValueError: If two values are equal.

    Example:

    >>> check_distinct("seeds", (0, 1, 2))
    """
    if len(set(values)) < len(values):
        listed = ",".join(map(str, values))
        raise ValueError(f"`{name}` must differ from each other. Received: {listed}")


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Return " Did you mean 'NAME'?" for the nearest of several names.

    Args:
        value: What was received.
        choices: The names allowed.

    Returns:
        The question, with a space before it, or "" if no name is near.

    Example:

    >>> did_you_mean("Relu", ["relu", "tanh"])
    " Did you mean 'relu'?"
    """
    by_lower = {choice.lower(): choice for choice in choices}
    text = str(value).lower()
    close = difflib.get_close_matches(text, by_lower, n=1, cutoff=0.5)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
