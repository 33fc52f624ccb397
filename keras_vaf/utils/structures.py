"""`parse_json` and `build`, which check every field of JSON data."""

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

T = TypeVar("T")

NOT_FINITE = "may be NaN or infinite"
AnyFloat = Annotated[float, NOT_FINITE]
"""A number that `build` also accepts if it is NaN or infinite."""


def parse_json(content: str | bytes) -> Any:
    """Return the value of a JSON text.

    Args:
        content: The text.

    Raises:
        ValueError: If the text is not JSON, or is nested too deeply.

    Example:

    >>> parse_json('{"k": 3}')
    {'k': 3}
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("The JSON text is nested too deeply.") from None


def build(kind: type[T], data: Any, name: str = "") -> T:
    """Return an instance of a dataclass from JSON data, after a check of every field.

    The annotations of the dataclass determine which values are allowed. Numbers must be
    finite, unless the annotation is `AnyFloat`. Fields without a default are required.

    Args:
        kind: The dataclass.
        data: A dictionary, as returned by `json.loads` and `dataclasses.asdict`. Its
            values may be instances of the dataclasses in the annotations.
        name: Name of the value, for the error message.

    Raises:
        ValueError: If a field is missing, unknown or of a wrong type, or if the
            dataclass rejects the values.

    Example:

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     names: tuple[str, ...] = ()
    >>> build(Point, {"x": 1.5, "names": ["a"]})
    Point(x=1.5, names=('a',))
    """
    name = name or kind.__name__
    _check(isinstance(data, dict), name, "an object", data)
    hints, required = _fields(typing.cast(Any, kind))
    wrong = sorted(required - data.keys()) or sorted(map(str, data.keys() - hints))
    if wrong:
        raise ValueError(
            f"`{name}` must have the fields {', '.join(hints)}. "
            f"Received: an object with the wrong or missing field {wrong[0]!r}"
        )
    values = {key: _value(hints[key], data[key], f"{name}.{key}") for key in data}
    return kind(**values)


@functools.lru_cache(maxsize=64)
def _fields(kind: type) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the types of a dataclass's fields, and the names of the required ones."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields: Any = dataclasses.fields(kind)
    absent = dataclasses.MISSING
    required = frozenset(
        field.name
        for field in fields
        if field.default is field.default_factory is absent
    )
    return {field.name: hints[field.name] for field in fields}, required


def _value(kind: Any, value: Any, name: str) -> Any:
    """Return a value converted to the type of its annotation."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin is Annotated:
        _check(_is_number(value), name, "a number", value)
        return value
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, value, name)
    if origin is Literal:
        _check(value in arguments, name, f"one of {arguments}", value)
        return value
    if origin in (tuple, list):
        _check(isinstance(value, list | tuple), name, "a list", value)
        return origin(
            _value(arguments[0], v, f"{name}[{i}]") for i, v in enumerate(value)
        )
    if origin in (dict, Mapping):
        _check(isinstance(value, dict), name, "an object", value)
        return {k: _value(arguments[1], v, f"{name}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(kind):
        known = isinstance(value, typing.cast(type, kind))
        return value if known else build(typing.cast(type, kind), value, name)
    return _plain(kind, value, name)


def _one_of(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a value of the first type that accepts it."""
    errors = []
    for kind in kinds:
        try:
            return _value(kind, value, name)
        except ValueError as error:
            errors.append(error)
    raise errors[0]


def _plain(kind: Any, value: Any, name: str) -> Any:
    if kind is float:
        finite = _is_number(value) and math.isfinite(value)
        _check(finite, name, "a finite number", value)
    elif kind in (None, types.NoneType):
        _check(value is None, name, "null", value)
    else:
        own = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        _check(own, name, f"of type {kind.__name__}", value)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(good: bool, name: str, expected: str, value: Any) -> None:
    if not good:
        text = repr(value)
        raise ValueError(f"`{name}` must be {expected}. Received: {text[:80]}")
