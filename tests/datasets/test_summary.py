"""A summary says what there is to see in a dataset."""

import io
import sys

import matplotlib.image
import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.summary import align, bars, describe, plot_distributions

pytestmark = pytest.mark.backend("tensorflow")

TABLE = Dataset(
    "four",
    "regression",
    np.array(
        [[1, 0, 5], [2, 1, 5], [np.nan, 1, 5], [3, np.nan, 5]],
        dtype="float32",
    ),
    np.array([10, 20, 30, 40], dtype="float32"),
    ("number", "colour", "constant"),
    categories={1: ("red", "blue")},
    source="four.csv",
)
IMAGES = Dataset(
    "two",
    "classification",
    np.array([[0, 255], [0, 0]], dtype="float32").reshape(2, 1, 2, 1),
    np.array([1, 1]),
    class_names=("cat", "dog"),
)


def lines_by_first_word(lines):
    return {line.split()[0]: line.split()[1:] for line in lines if line}


def test_a_table():
    lines = describe(TABLE)
    assert lines[0] == repr(TABLE)
    assert lines[1] == "source: four.csv"
    assert lines[2] == f"SHA-256: {TABLE.checksum}"
    words = lines_by_first_word(lines)
    assert words["number"][:4] == ["1", "2", "3", "1"]
    assert words["colour"] == ["1", "▄█", "categories", "red,", "blue"]
    assert words["constant"][:3] == ["5", "5", "5"]
    assert words["constant"][-1] == "constant"
    assert words["(target)"][:3] == ["10", "25", "40"]


def test_images():
    words = lines_by_first_word(describe(IMAGES))
    assert words["cat"] == ["0", "0.0%"]
    assert words["dog"] == ["2", "100.0%"]
    assert words["all"][:4] == ["pixels", "0", "63.75", "255"]


class TestBars:
    def test_the_largest_is_full_and_nothing_is_empty(self):
        assert bars(np.array([0, 80, 40])) == " █▄"

    def test_a_single_row_shows(self):
        assert bars(np.array([1, 10_000])) == "▁█"

    def test_no_rows_at_all(self):
        assert bars(np.array([0, 0])) == "  "

    def test_a_terminal_without_block_characters(self, monkeypatch):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
        assert bars(np.array([0, 80, 40, 1])) == " @=."


def test_columns_stand_below_one_another():
    assert align([["a", "b", ""], ["ccc", "d", "e"]]) == ["a    b", "ccc  d  e"]


@pytest.mark.parametrize("dataset", [TABLE, IMAGES], ids=lambda dataset: dataset.name)
def test_a_picture(dataset):
    picture = matplotlib.image.imread(io.BytesIO(plot_distributions(dataset)))
    colours = {tuple(colour) for colour in (picture[::4, ::4, :3] * 255).reshape(-1, 3)}
    inputs, targets = (31, 119, 180), (255, 127, 14)  # Matplotlib's first two.
    assert {inputs, targets} <= colours
