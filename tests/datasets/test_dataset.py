"""A dataset holds what it says: types, sizes and names agree."""

import numpy as np
import pytest

from keras_vaf.datasets import Dataset

pytestmark = pytest.mark.backend("tensorflow")

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]], dtype="float32")
CLASSES = {
    "name": "three",
    "task": "classification",
    "x": X,
    "y": np.array([0, 1, 1]),
    "feature_names": ("a", "b"),
    "class_names": ("no", "yes"),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "ranking"}, "`task` must be .*'ranking'"),
        ({"x": X.astype("float64")}, "float32 .* Received: float64"),
        ({"x": X[:, 0]}, "at least two axes.* shape \\(3,\\)"),
        ({"feature_names": ("a",)}, "1 names for 2 columns"),
        ({"y": np.array([0, 1])}, "each of the 3 rows.* shape \\(2,\\)"),
        ({"y": np.array([0.0, 1.0, 1.0])}, "int64.* Received: float64"),
        ({"y": np.array([0, 1, 2])}, "indices from 0 to 1.* values from 0 to 2"),
        ({"class_names": None}, "`class_names` must be given"),
    ],
)
def test_what_does_not_agree_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Dataset(**(CLASSES | change))


def test_the_representation_names_the_size_and_no_values():
    assert repr(Dataset(**CLASSES)) == (
        "Dataset('three', classification, 3 rows, 2 inputs, 2 classes)"
    )


def test_the_checksum_is_that_of_the_values():
    expected = Dataset(**CLASSES).checksum
    fortran = {"x": np.asfortranarray(X), "source": "elsewhere"}
    assert Dataset(**CLASSES | fortran).checksum == expected
    x = np.nextafter(X, np.float32(9))
    for other in (
        {"x": x},
        {"x": X[::-1]},
        {"x": X[:, ::-1]},
        {"y": np.eye(3, dtype=int)[2]},
    ):
        assert Dataset(**CLASSES | other).checksum != expected
