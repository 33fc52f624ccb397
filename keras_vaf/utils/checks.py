"""`check_choice`, `check_flag` and other checks of arguments that are not numbers."""

import difflib
from collections.abc import Iterable, Sequence


def check_flag(name: str, value: bool) -> bool:
    """Check that an argument is True or False, and return it.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.

    Raises:
        ValueError: If the argument is neither True nor False.

    Example:

    >>> check_flag("trainable", True)
    True
    """
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` must be True or False. Received: {name}={value!r}")
    return value


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Check that an argument is one of several names, and return it.

    Args:
        name: Name of the argument, for the error message.
        value: The argument.
        choices: The allowed names.

    Raises:
        ValueError: If the argument is not one of them. The message suggests the nearest
            name.

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
    """Raise a `ValueError` if two values are equal.

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
    """Return " Did you mean 'NAME'?" with the nearest of several names.

    Args:
        value: The received value.
        choices: The names allowed.

    Returns:
        The question, preceded by a space, or "" if no name is similar.

    Example:

    >>> did_you_mean("Relu", ["relu", "tanh"])
    " Did you mean 'relu'?"
    """
    by_lower = {choice.lower(): choice for choice in choices}
    text = str(value).lower()
    close = difflib.get_close_matches(text, by_lower, n=1, cutoff=0.5)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
