"""DyT in the place of layer normalization, as its authors use it."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import Derf, DyT

pytestmark = pytest.mark.backend("tensorflow")

X = np.random.default_rng(0).normal(size=(64, 5, 8)).astype("float32")
Y = X.max(axis=1)[:, :1]


def transformer():
    inputs = keras.Input((5, 8))
    y = keras.layers.LayerNormalization(name="first")(inputs)
    y = inputs + keras.layers.MultiHeadAttention(2, 4)(y, y)
    z = keras.layers.LayerNormalization(name="second")(y)
    y = y + keras.layers.Dense(8)(keras.layers.Dense(16, activation="gelu")(z))
    y = keras.layers.GlobalAveragePooling1D()(y)
    return keras.Model(inputs, keras.layers.Dense(1)(y))


@pytest.mark.parametrize("kind", [DyT, Derf])
def test_a_transformer_without_layer_normalization_learns(kind, tmp_path):
    def replace(layer):
        if isinstance(layer, keras.layers.LayerNormalization):
            return kind(name=layer.name)
        return type(layer).from_config(layer.get_config())

    keras.utils.set_random_seed(0)
    before = transformer()
    model = keras.models.clone_model(before, clone_function=replace)
    of_same_name = [(w.path, tuple(w.shape)) for w in before.weights]
    assert [tuple(w.shape) for w in model.get_layer("first").weights][-2:] == [(8,)] * 2
    for weight in model.weights:  # the other weights fit into the new model
        if "first" not in weight.path and "second" not in weight.path:
            assert (weight.path, tuple(weight.shape)) in of_same_name
    model.compile(keras.optimizers.Adam(0.01), "mse")
    loss = model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, epochs=20, verbose=0)
    assert model.evaluate(X, Y, verbose=0) < 0.5 * loss
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(*map(ops.convert_to_numpy, (again(X), model(X))), 1e-6)
