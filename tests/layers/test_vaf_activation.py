"""The contract of the paper's activation: weights, output, curve."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import NAMES
from tests import reference

WEIGHTS = ("alpha", "alpha_bias", "beta", "beta_bias")
SHARINGS = [
    ("layer", ()),
    ("channel", (3,)),
    ("neuron", (1, 2, 3)),
    ((1, 2), (3,)),
    ((2,), (1, 3)),
    ((), (1, 2, 3)),
]


def arrays(layer):
    return [np.asarray(w, "float64") for w in layer.get_weights()]


@pytest.mark.parametrize("sharing, unshared", SHARINGS)
def test_weights_output_and_curve_match_the_reference(sharing, unshared):
    shape = (2, 3, 4, 5)
    layer = VAFActivation(k=4, g="gelu", sharing=sharing)
    layer.build(shape)
    sizes = tuple(shape[axis] for axis in unshared)
    assert [w.name for w in layer.weights] == list(WEIGHTS)
    expected = [(*sizes, 4), (*sizes, 4), (*sizes, 4), sizes]
    assert [tuple(w.shape) for w in layer.weights] == expected

    random = np.random.default_rng(0)
    layer.set_weights([random.normal(size=s) for s in expected])
    x = random.normal(size=shape).astype("float32")
    y = reference.vaf(x.astype("float64"), *arrays(layer), "gelu", unshared)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x)), y, 1e-4, 1e-5)

    for points in (0.5, [-1, 0, 2], random.normal(size=(2, 3))):
        points = np.asarray(points, "float64")
        curves = layer.function(points)
        assert curves.dtype == "float64"
        assert curves.shape == (*points.shape, *sizes)
        spread = np.broadcast_to(
            np.reshape(points, (*points.shape, *[1] * len(sizes))), curves.shape
        )
        axes = tuple(range(points.ndim, curves.ndim))
        y = reference.vaf(spread, *arrays(layer), "gelu", axes)
        np.testing.assert_allclose(curves, y, 1e-6, 1e-6)


def test_layer_sharing_has_weights_at_once_and_takes_any_shape():
    layer = VAFActivation(k=5)
    assert sum(int(np.prod(w.shape)) for w in layer.weights) == 3 * 5 + 1
    for shape in ((2, 3), (4, 5, 6), (1, 2, 3, 4)):
        assert tuple(layer(np.zeros(shape, "float32")).shape) == shape
    assert len(layer.weights) == 4


def test_a_lambda_trains_but_is_not_saved(tmp_path):
    layer = VAFActivation(g=lambda x: ops.sin(x), initialization="random")
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile("sgd", "mse")
    before = layer.get_weights()
    x = np.ones((4, 3), "float32")
    model.fit(x, x, verbose=0)
    assert any(np.any(a != b) for a, b in zip(before, layer.get_weights(), strict=True))
    for save in (
        layer.get_config,
        model.to_json,
        lambda: keras.models.clone_model(model),
        lambda: model.save(tmp_path / "model.keras"),
    ):
        with pytest.raises(
            ValueError, match=r"`g` cannot be saved.*register_keras_serializable"
        ):
            save()


@keras.saving.register_keras_serializable(package="tests")
def wave(x):
    """A g of a user, of operations that JAX computes in float32."""
    return ops.sin(x) * ops.exp(-ops.square(ops.tanh(x)))


@pytest.mark.parametrize("g", [*NAMES, wave])
def test_function_is_computed_in_float64(g):
    layer = VAFActivation(k=2, g=g, initialization="random")
    x = np.linspace(-3, 3, 101)
    alpha, alpha_bias, beta, _ = (w.astype("float64") for w in layer.get_weights())

    def value(h):
        if g is wave:
            return np.sin(h) * np.exp(-np.square(np.tanh(h)))
        return reference.FUNCTIONS[g][0](h)

    want = value(x[:, None] * alpha + alpha_bias) @ beta
    # Constants of these two are float32 in TensorFlow.
    single = g in ("gelu", "leaky_relu") and keras.backend.backend() == "tensorflow"
    tolerance = 1e-7 if single else 1e-12
    np.testing.assert_allclose(layer.function(x), want, tolerance, tolerance)
