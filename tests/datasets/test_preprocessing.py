"""Scaling is scikit-learn's, from training rows alone, and can be undone."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.datasets.scores import score

pytestmark = pytest.mark.backend("tensorflow")

TRAINING = np.arange(30)
SCALERS = {
    "standard": StandardScaler,
    "min-max": MinMaxScaler,
    "none": FunctionTransformer,
}


def make_dataset():
    """Return 40 rows: two numbers, a category of three, a constant."""
    generator = np.random.default_rng(3)
    x = np.empty((40, 4), dtype="float32")
    x[:, 0] = generator.normal(1000, 2, 40)
    x[:, 1] = generator.integers(0, 3, 40)
    x[:, 2] = generator.exponential(size=40)
    x[:, 3] = 0.1
    x[[4, 33], 0] = np.nan
    x[[5, 34], 1] = np.nan
    return Dataset(
        "forty",
        "regression",
        x,
        generator.normal(-50, 7, 40).astype("float32"),
        ("a", "kind", "b", "constant"),
        categories={1: ("p", "q", "r")},
    )


def test_inputs_are_what_scikit_learn_makes_of_them():
    dataset = make_dataset()
    numbers = make_pipeline(StandardScaler(), SimpleImputer(strategy="mean"))
    kinds = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(categories=[[0, 1, 2]], sparse_output=False),
    )
    reference = ColumnTransformer(
        [("a", numbers, [0]), ("kind", kinds, [1]), ("b", numbers, [2])]
    ).fit(dataset.x[TRAINING].astype("float64"))
    fitted = Preprocessing().fit(dataset, TRAINING)
    x, _ = fitted.transform(dataset, slice(None))
    assert x.dtype == np.float32
    np.testing.assert_allclose(
        x[:, :-1], reference.transform(dataset.x.astype("float64")), atol=1e-6
    )


@pytest.mark.parametrize("scaling", SCALERS)
def test_targets_are_scaled_as_by_scikit_learn_and_back(scaling):
    dataset = make_dataset()
    y = dataset.y.astype("float64")[:, None]
    reference = SCALERS[scaling]().fit(y[TRAINING]).transform(y)
    fitted = Preprocessing(targets=scaling).fit(dataset, TRAINING)
    _, scaled = fitted.transform(dataset, slice(None))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled[:, None], reference, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fitted.invert_targets(scaled), dataset.y, rtol=1e-5)
    np.testing.assert_allclose(fitted.invert_targets(scaled[:, None]), y, rtol=1e-5)


def test_columns_without_information_become_0():
    dataset = make_dataset()
    dataset.x[35:, 3] = 7.0
    dataset.x[TRAINING, 2] = np.nan
    x = Preprocessing().fit(dataset, TRAINING).transform_inputs(dataset.x)
    np.testing.assert_array_equal(x[:, 4:], 0.0)


@pytest.mark.parametrize("scaling", SCALERS)
def test_no_statistic_sees_a_row_outside_the_training_rows(scaling):
    dataset, other = make_dataset(), make_dataset()
    other.x[30:], other.x[30:, 1], other.y[30:] = 1e6, 2, -1e6
    found, again = (
        Preprocessing(scaling).fit(each, TRAINING).transform(dataset, slice(None))
        for each in (dataset, other)
    )
    np.testing.assert_array_equal(found[0], again[0])
    np.testing.assert_array_equal(found[1], again[1])


def test_images_are_scaled_by_channel():
    generator = np.random.default_rng(0)
    images = generator.integers(0, 256, (6, 4, 5, 3)).astype("float32")
    images[..., 2] *= 0.25
    dataset = Dataset("six", "regression", images, np.zeros(6, dtype="float32"))
    x, _ = Preprocessing().fit(dataset, [0, 1, 2]).transform(dataset, slice(None))
    reference = StandardScaler().fit(images[:3].reshape(-1, 3).astype("float64"))
    np.testing.assert_allclose(
        x.reshape(-1, 3), reference.transform(images.reshape(-1, 3)), atol=1e-6
    )


def test_no_rows_and_scaled_classes_are_refused():
    with pytest.raises(ValueError, match="must contain a row"):
        Preprocessing().fit(make_dataset(), [])
    x, y = np.float32([[1], [2]]), np.array([1, 0])
    dataset = Dataset("two", "classification", x, y, ("a",), ("no", "yes"))
    with pytest.raises(ValueError, match=r"'none' for classification.*'two'"):
        Preprocessing(targets="min-max").fit(dataset, [0, 1])


@pytest.mark.parametrize(
    ("scaling", "error"), [("none", 5), ("min-max", 5 / 20), ("standard", 5)]
)
def test_the_score_of_outputs_that_miss_by_5_units(scaling, error):
    x, y = np.arange(4, dtype="float32")[:, None], np.float32([10, 20, 30, 50])
    dataset = Dataset("line", "regression", x, y, ("a",))
    fitted = Preprocessing(targets=scaling).fit(dataset, [0, 1, 2])
    outputs = fitted.transform_targets(y + np.float32([5, -5, 5, -5]))
    found = score(dataset, fitted, np.arange(4), outputs[:, None])
    assert found == pytest.approx(error, rel=1e-5)
    flat = Dataset("flat", "regression", x, np.float32([4, 4, 7, 9]), ("a",))
    fitted = Preprocessing("standard").fit(flat, [0, 1])  # keeps the units
    np.testing.assert_array_equal(fitted.transform_targets(flat.y), [0, 0, 3, 5])
