"""Checks of arguments that several layers have."""

import math
from collections.abc import Sequence

from keras_vaf.ops.functions import Function, get_function


def check_integer(name: str, value: int, minimum: int) -> int:
    """Return an integer that is large enough.

    Args:
        name: Name of the argument, for the error.
        value: The argument.
        minimum: Smallest integer allowed.

    Raises:
        ValueError: If it is no integer or too small.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(
            f"`{name}` must be an integer of at least {minimum}. "
            f"Received: {name}={value!r}"
        )
    return value


def check_positive(name: str, value: float) -> float:
    """Return a number that is positive and finite.

    Args:
        name: Name of the argument, for the error.
        value: The argument.

    Raises:
        ValueError: If it is no such number.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 < value < math.inf
    ):
        raise ValueError(
            f"`{name}` must be a positive number. Received: {name}={value!r}"
        )
    return value


def check_flag(name: str, value: bool) -> bool:
    """Return True or False.

    Args:
        name: Name of the argument, for the error.
        value: The argument.

    Raises:
        ValueError: If it is neither.
    """
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` must be True or False. Received: {name}={value!r}")
    return value


def check_functions(functions: Sequence[str | Function]) -> tuple[Function, ...]:
    """Return the fixed functions that an activation combines.

    Args:
        functions: Names of element-wise Keras activations, or registered functions of
            one tensor.

    Raises:
        ValueError: If there is none, or one of them is none of these.
    """
    if not isinstance(functions, tuple | list) or not functions:
        raise ValueError(
            "`functions` must be a tuple of functions, such as ('relu', 'tanh'). "
            f"Received: functions={functions!r}"
        )
    return tuple(get_function(function, "functions") for function in functions)
