"""`load` gives the publisher's rows."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from keras_vaf.datasets import load

pytestmark = pytest.mark.backend("tensorflow")


def test_wine_comes_with_scikit_learn(tmp_path):
    dataset = load("wine", data_dir=tmp_path)
    expected = load_wine()
    assert dataset.feature_names == tuple(expected.feature_names)
    assert dataset.source == "package sklearn"
    np.testing.assert_array_equal(dataset.x, expected.data.astype("float32"))
    np.testing.assert_array_equal(dataset.y, expected.target)


@pytest.mark.data
def test_the_publishers_wine_is_that_of_scikit_learn(data_dir, tmp_path):
    from_file, from_package = load("wine", data_dir), load("wine", tmp_path)
    assert from_file.source != from_package.source
    assert from_file.checksum == from_package.checksum


def test_a_name_nearly_right_is_guessed():
    with pytest.raises(ValueError, match=r"Did you mean 'wine'.*'wines'"):
        load("wines")
