"""`check_choice`, `check_integer` and other checks of arguments.

Each raises a `ValueError` that names the argument `name`, what it must be, and `value`.
"""

import difflib
import functools
import json
import math
import sys
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np


def _check(good: bool, name: str, expected: str, value: Any, hint: str = "") -> None:
    if not good:
        raise ValueError(
            f"`{name}` must be {expected}.{hint} Received: {name}={value!r:.200}"
        )


def check_flag(name: str, value: bool) -> bool:
    """Check that an argument is True or False, and return it."""
    _check(isinstance(value, bool), name, "True or False", value)
    return value


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Check that an argument is one of several names, and return it."""
    choices = tuple(choices)
    good = isinstance(value, str) and value in choices
    hint = "" if good else did_you_mean(value, choices)
    _check(good, name, f"one of {', '.join(map(repr, choices))}", value, hint)
    return value


def check_distinct(name: str, values: Sequence[object]) -> None:
    """Check that the values of an argument differ."""
    if len(set(values)) < len(values):
        listed = ",".join(map(str, values))
        raise ValueError(f"`{name}` must differ from each other. Received: {listed}")


def check_kind(name: str, value: Any, *kinds: type) -> None:
    """Check that an argument is an instance of one of several classes."""
    allowed = " or ".join(kind.__name__ for kind in kinds)
    _check(isinstance(value, kinds), name, f"a {allowed}", value)


def check_kinds(name: str, values: Any, kind: type, others: str = "") -> None:
    """Check that an argument is a sequence of instances of a class."""
    listed = isinstance(values, Collection) and not isinstance(values, str)
    good = listed and all(isinstance(value, kind) for value in values)
    _check(good, name, f"a sequence of {kind.__name__}{others}", values)


def check_json(name: str, value: Any) -> None:
    """Check that an argument can be written as JSON."""
    try:
        json.dumps(value)
    except TypeError:
        _check(False, name, "made of texts, numbers, lists and dictionaries", value)


def class_of(name: str, value: str, *modules: types.ModuleType) -> Any:
    """Return the class of a given name from the first of several modules with it."""
    for module in modules:
        found = getattr(module, value, None) if isinstance(value, str) else None
        if isinstance(found, type):
            return found
    places = " or ".join(f"`{module.__name__}`" for module in modules)
    hint = did_you_mean(value, [each for module in modules for each in dir(module)])
    _check(False, name, f"the name of a class in {places}", value, hint)


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Return " Did you mean 'NAME'?" with the nearest name, or "" if none is near."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(str(value).lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def check_integer(
    name: str, value: int, minimum: int = 1, maximum: int | None = None
) -> int:
    """Check that an argument is an integer, and return it as a Python number."""
    value = _python_number(value)
    good = _is_integer(value) and value >= minimum
    bounds = f"an integer of at least {minimum}"
    if maximum is not None:
        good, bounds = good and value <= maximum, f"{bounds} and at most {maximum:,}"
    _check(good, name, bounds, value)
    return value


MOST_UNITS = 10_000
"""Largest number of parts of a function and width of a layer, for memory's sake."""


def check_sizes(
    name: str, values: Iterable[int], maximum: int | None = None
) -> tuple[int, ...]:
    """Check that an argument is a sequence of positive integers; return a tuple."""
    check = functools.partial(check_integer, maximum=maximum)
    most = "" if maximum is None else f" of at most {maximum:,}"
    return _tuple(check, name, values, f"positive integers{most}, such as (100, 50)")


def check_number(
    name: str,
    value: float,
    minimum: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Check that an argument is a finite number within bounds; return it."""
    value = _python_number(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    good = number and abs(value) <= sys.float_info.max and minimum <= value
    named = (("of at least", minimum), ("above", above), ("below", below))
    bounds = " and".join(f" {w} {b:g}" for w, b in named if abs(b) < math.inf)
    _check(good and above < value < below, name, f"a finite number{bounds}", value)
    return value


def check_numbers(name: str, values: Iterable[float]) -> tuple[float, ...]:
    """Check that an argument is a sequence of finite numbers; return a tuple."""
    numbers = _tuple(check_number, name, values, "finite numbers, such as (-1.0, 0.5)")
    return tuple(map(float, numbers))


def check_positive(name: str, value: float) -> float:
    """Check that an argument is a finite number above 0; return it."""
    return check_number(name, value, above=0)


def check_seeds(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """Check that seeds differ and suit every random generator; return a tuple."""
    listed = isinstance(values, Sequence | np.ndarray) and len(values) > 0
    good = listed and all(_is_integer(v) and 0 <= v < 2**32 for v in values)
    _check(good, name, f"integers from 0 to {2**32 - 1}, such as (0, 1, 2)", values)
    check_distinct(name, values)
    return tuple(map(int, values))


def _tuple(
    check: Callable[[str, Any], Any], name: str, values: Any, allowed: str
) -> tuple[Any, ...]:
    """Return values that pass a check, or raise an error that names them all."""
    try:
        return tuple(check(name, value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(
            f"`{name}` must be a sequence of {allowed}. Received: {name}={values!r}"
        ) from None


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _python_number(value: Any) -> Any:
    """Return a number of NumPy as a Python number, which JSON supports."""
    scalar = isinstance(value, np.ndarray) and value.ndim == 0
    return value.item() if scalar or isinstance(value, np.number) else value
