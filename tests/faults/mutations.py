"""`mutations` yields wrong variants of a JSON document, one edit each."""

import copy
import json
from collections.abc import Iterator
from typing import Any

WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 10**30, float("nan"), float("inf")),
    *("", "text", [], [[]], {}, {"a": 1}),
)
"""Values that replace each entry of a document in turn."""

DEEP = "[" * 100_000
"""JSON text that is nested too deeply for any parser."""


def mutations(document: Any, most: int = 3) -> Iterator[tuple[str, str]]:
    """Yield wrong variants of a document.

    Args:
        document: Any value that JSON can hold.
        most: Number of entries of each list that are edited.

    Yields:
        What was changed, and the text of the variant.
    """
    text = json.dumps(document)
    yield from (("empty", ""), ("deep", DEEP), ("half", text[: len(text) // 2]))
    for path in _paths(document, (), most):
        for value in WRONG:
            yield f"{path} = {value!r}", json.dumps(_edited(document, path, value))
        if path:
            yield f"{path} removed", json.dumps(_edited(document, path))


def _paths(value: Any, path: tuple[Any, ...], most: int) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key), most)
    elif isinstance(value, list):
        for place in range(min(len(value), most)):
            yield from _paths(value[place], (*path, place), most)


def _edited(document: Any, path: tuple[Any, ...], *value: Any) -> Any:
    """Return a copy with another value at a path, or without the entry."""
    if not path:
        return value[0]
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value:
        place[path[-1]] = value[0]
    else:
        del place[path[-1]]
    return document
