"""Cells become the numbers and indices that the catalogue asks for."""

import numpy as np
import pytest

from keras_vaf.datasets import Size
from keras_vaf.datasets.loading import encode_table
from keras_vaf.datasets.parsers import Table
from tests.datasets.three_rows import make_entry

pytestmark = pytest.mark.backend("tensorflow")


def encode(names, rows, **options):
    options = {"size": Size(len(rows), 1), "target": "kind", **options}
    table = Table(tuple(names.split()), [row.split() for row in rows])
    return encode_table(table, make_entry("some", (), **options), "some.csv")


def test_labels_have_the_order_and_the_names_of_the_catalogue():
    dataset = encode(
        "a kind",
        ["1 no", "2 yes", "3 no"],
        size=Size(3, 1, 2),
        labels=("yes", "no"),
        class_names=("Y", "N"),
    )
    assert dataset.class_names == ("Y", "N")
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])


def test_categories_keep_their_places_when_a_column_is_left_out():
    dataset = encode(
        "id a b kind",
        ["7 1 q 2", "8 ? p 3"],
        left_out={"id": "an identifier"},
        categories={"b": ("p", "q")},
        missing=("?",),
    )
    assert dataset.feature_names == ("a", "b")
    assert dataset.categories == {1: ("p", "q")}
    np.testing.assert_array_equal(dataset.x, [[1, 1], [np.nan, 0]])


def test_a_row_of_another_width_is_refused():
    # Such a file has the right words, and so the right checksum, on other lines.
    with pytest.raises(ValueError, match="zip"):
        encode("a kind", ["1 2 3", "4"])
