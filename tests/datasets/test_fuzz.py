"""Whatever a user's file holds, it is read, or a `ValueError` names it."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_vaf.datasets import read_table

pytestmark = pytest.mark.backend("tensorflow")

FILE = "some.file"
TEXT = b"a,b,y\n1,2.5,0.5\n3,-4e1,1.5\n5,6,2.5\n"


@st.composite
def damaged(draw):
    """Return a strategy: a table that is cut off, changed or padded."""
    content = bytearray(TEXT)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        stop = start + draw(st.sampled_from([0, 1, 1, 8, len(content)]))
        content[start:stop] = draw(st.binary(max_size=3))
    return bytes(content)


def text_tables():
    """Return a strategy: text that is nearly a table."""
    cells = '1|-2.5|1e999|nan|inf||?|x|"|"a|é|\x00|1_0|True|99999999999999999999'
    rows = st.lists(st.sampled_from(cells.split("|")), max_size=4).flatmap(
        lambda row: st.sampled_from([",", ";", "\t", " "]).map(
            lambda separator: separator.join(row)
        )
    )
    ends = st.sampled_from(["\n", "\r\n", "\r", "\x0b", "\u2028"])
    lines = st.lists(st.tuples(rows, ends).map("".join), max_size=6)
    return lines.map("".join).map(str.encode)


@pytest.mark.parametrize("categories", [(), ("a",)])
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    content=st.one_of(st.binary(), damaged(), text_tables().map(b"a,y\n".__add__)),
    task=st.sampled_from([None, "regression", "classification"]),
)
def test_a_table_of_ones_own(tmp_path, categories, content, task):
    path = tmp_path / FILE
    path.write_bytes(content)
    try:
        dataset = read_table(path, "y", task, categories)
    except ValueError as error:
        assert re.match(f"{FILE}(: |, line |, row | has no column)", str(error)), str(
            error
        )
    else:
        assert np.isfinite(dataset.y).all()
        assert not np.isinf(dataset.x).any()
