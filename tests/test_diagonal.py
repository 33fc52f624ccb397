"""The choice between the cases of a change and those of a night."""

import itertools

from tests.diagonal import diagonal


def test_every_value_is_kept_also_where_cases_are_missing():
    rows = [*itertools.product("abcd", (1, 2), "xyz")]
    wanted = [("a", 1, "x"), ("b", 2, "y"), ("c", 1, "z"), ("d", 2, "x")]
    assert [*itertools.compress(rows, diagonal(rows))] == wanted
    rows = [row for row in rows if row[0] != "c" or row[2] == "y"]
    assert {*itertools.compress(rows, diagonal(rows))} & {("c", 1, "y"), ("c", 2, "y")}
