"""On a further backend of Keras the formula runs in `keras.ops`."""

import pytest

from tests.ops.native.harness import python

# The backend numpy of Keras imports JAX.
pytestmark = pytest.mark.backend("jax")

SCRIPT = """
import sys
import keras
import numpy as np
import keras_vaf
from keras_vaf.layers import VAFActivation

assert keras.backend.backend() == "numpy"
facts = keras_vaf.ops.info()
assert facts["backend"] == f"numpy {np.__version__}"
assert facts["native kernels"].startswith("not active: the backend numpy")

x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
for sharing, shape in (("layer", ()), ("channel", (4,))):
    layer = VAFActivation(k=3, g="tanh", sharing=sharing, initialization="random")
    y = layer(x)
    alpha, alpha_bias, beta, beta_bias = (
        np.asarray(w.value, "float64") for w in layer.weights
    )
    assert beta_bias.shape == shape
    h = np.tanh(alpha * np.float64(x)[..., None] + alpha_bias)
    np.testing.assert_allclose(y, (beta * h).sum(-1) + beta_bias, rtol=1e-5, atol=1e-6)
    assert layer.function(0.5).shape == shape

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(3, activation="relu"),
        keras.layers.Dense(2),
    ]
)
converted = keras_vaf.convert(model)
converted.save(sys.argv[1])
loaded = keras.models.load_model(sys.argv[1])
for other in (converted, loaded, keras_vaf.models.freeze(loaded)):
    np.testing.assert_array_equal(other(x), model(x))
"""


def test_numpy(tmp_path):
    python("-c", SCRIPT, str(tmp_path / "model.keras"), KERAS_BACKEND="numpy")
