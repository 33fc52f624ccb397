"""Cells become the numbers and indices that the catalogue asks for, or an error."""

import numpy as np
import pytest

from keras_vaf.datasets.encoding import encode_table
from keras_vaf.datasets.parsers import read_text

pytestmark = pytest.mark.backend("tensorflow")


def encode(text, **options):
    return encode_table(read_text(text, "some.csv", ","), "some", "kind", **options)


def test_labels_have_the_order_and_the_names_that_they_are_given():
    dataset = encode(
        b"a,kind\n1,no\n2,yes\n3,no\n", labels=("yes", "no"), class_names=("Y", "N")
    )
    assert dataset.class_names == ("Y", "N")
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])


def test_columns_are_left_out():
    dataset = encode(b"id,a,kind\n7,1,2.5\n", left_out=("id",))
    assert dataset.feature_names == ("a",)
    np.testing.assert_array_equal(dataset.x, [[1]])


def test_categories_keep_their_places_when_a_column_is_left_out():
    dataset = encode(
        b"id,a,b,kind\n7,1,q,2\n8,2,?,3\n",
        left_out=("id",),
        categories={"b": ("p", "q")},
        missing=("?",),
    )
    assert dataset.categories == {1: ("p", "q")}
    np.testing.assert_array_equal(dataset.x, [[1, 1], [2, np.nan]])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"a,kind\n1,x\n2,y\n", {"labels": ("x",)}, "line 3: .*'kind' .* 'x'.*'y'"),
        (b"a,kind\nr,1\n", {"categories": {"a": ("p", "q")}}, "'p', 'q'. .*: 'r'"),
        (b"a,kind\n1,?\n", {"missing": ("?",)}, "line 2: column 'kind' must hold num"),
        (b"a,kind\n1,?\n", {"missing": ("?",), "labels": ("1",)}, "one of '1'.* '?'"),
        (b"a,class\n1,2\n", {}, " has no column 'kind' to take as the target"),
        (b"a,kind\n1,2\n", {"left_out": ("id",)}, " has no column 'id' .* leave out"),
    ],
)
def test_other_cells_are_refused(text, options, message):
    with pytest.raises(ValueError, match=f"^some.csv.*{message}"):
        encode(text, **options)
