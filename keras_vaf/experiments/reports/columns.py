"""`to_columns` and `from_columns`, for lists of records that compress well."""

from __future__ import annotations

import itertools
from typing import Any

ROUNDED = ("loss", "validation_loss", "rmse", "scaled_rmse")
"""Names of numbers with nine significant digits. Networks compute with about seven."""


def to_columns(values: list[Any], name: str = "") -> Any:
    """Return JSON values as columns: equal fields next to each other.

    Args:
        values: JSON values. Objects with the same names become one list for each name,
            and lists of objects become one list.
        name: Name of the field of the values.

    Returns:
        JSON values from which `from_columns` restores the values.

    Example:

    >>> to_columns([{"seed": 1, "loss": 2.5}, {"seed": 3, "loss": 0.123456789123}])
    {'columns': {'seed': [1, 3], 'loss': [2.5, 0.123456789]}}
    """
    kinds = {tuple(each) if isinstance(each, dict) else None for each in values}
    if len(kinds) == 1 and isinstance(values[0], dict) and values[0]:
        columns = {n: to_columns([v[n] for v in values], n) for n in values[0]}
        return {"columns": columns}
    if kinds == {None} and all(isinstance(each, list | tuple) for each in values):
        items = [item for each in values for item in each]
        if all(isinstance(item, dict) for item in items):
            return {"lengths": list(map(len, values)), "items": to_columns(items)}
    return [_rounded(each) for each in values] if name in ROUNDED else values


def from_columns(packed: Any) -> list[Any]:
    """Return the values of which `to_columns` made columns.

    Raises:
        ValueError: If columns have different lengths.
    """
    if isinstance(packed, list):
        return packed
    if "lengths" in packed:
        items = iter(from_columns(packed["items"]))
        return [list(itertools.islice(items, count)) for count in packed["lengths"]]
    columns = {name: from_columns(each) for name, each in packed["columns"].items()}
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return list(map(_rounded, value)) if isinstance(value, list) else value
