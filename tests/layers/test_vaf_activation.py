"""The contract of the paper's activation: weights, output, curve."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import VAFActivation
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
