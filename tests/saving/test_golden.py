"""Files of released versions load and predict what they did."""

import json

import keras
import numpy as np
import pytest

from tests.saving.make_golden import FOLDER, sample

FILES = sorted(FOLDER.glob("*/*.keras"))


def test_there_are_files():
    assert {path.parent.name for path in FILES} >= {"0.1.0", "0.2.0", "0.3.0", "0.4.0"}


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_file_of_each_version_loads(path):
    known = json.loads((path.parent / "predictions.json").read_text())[path.stem]
    model = keras.saving.load_model(path)
    x = sample(tuple(known["shape"]))
    prediction = keras.ops.convert_to_numpy(model(x))
    np.testing.assert_allclose(prediction, known["prediction"], rtol=1e-5, atol=1e-6)
