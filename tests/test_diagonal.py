"""Tests of the choice between the cases of a change and those of a night."""

import itertools
from types import SimpleNamespace

import pytest

from tests.diagonal import outside_diagonal


class Item(SimpleNamespace):
    """A collected test with its `parametrize` marks."""

    __hash__ = object.__hash__

    def iter_markers(self, name):
        return self.marks


def crossed(**values):
    """Return the items of a test that is crossed over the values of its arguments."""
    marks = [pytest.mark.parametrize(name, values[name]).mark for name in values]
    return [
        Item(
            path="test_x.py",
            nodeid=f"test_x.py::test[{row}]",
            marks=marks,
            callspec=SimpleNamespace(params=dict(zip(values, row, strict=True))),
        )
        for row in itertools.product(*values.values())
    ]


def kept(items):
    """Return the values of the cases that a change runs."""
    left_out = outside_diagonal(items)
    return [tuple(i.callspec.params.values()) for i in items if i not in left_out]


def test_every_value_is_kept():
    assert kept(crossed(g="abcd", k=(1, 2), shape=("x", "y", "z"))) == [
        *(("a", 1, "x"), ("b", 2, "y"), ("c", 1, "z"), ("d", 2, "x")),
    ]
