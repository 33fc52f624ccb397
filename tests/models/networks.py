"""Small models of every kind, with activations in every place."""

import keras
import numpy as np
from keras import layers, ops

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import report


def sequential():
    return keras.Sequential(
        [
            keras.Input((6,), name="entry"),
            layers.Dense(5, activation="relu", name="fused"),
            layers.LeakyReLU(0.3, name="leaky"),
            layers.Dense(4, name="plain"),
            layers.ReLU(max_value=6, negative_slope=0.1, name="capped"),
            layers.Dense(3, activation="softmax", name="class"),
        ]
    )


def functional():
    """Two inputs, two outputs, a layer in two places, operators, an inner model."""
    inner = keras.Sequential(
        [keras.Input((5,)), layers.Dense(5), layers.ReLU(name="relu")], name="inner"
    )
    shared = layers.Dense(5, activation="relu", name="shared")
    act = layers.Activation("leaky_relu", name="act")
    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    x = act(shared(left)) + act(shared(right))
    x = ops.relu(inner(x) - 0.1)
    a = layers.Dense(2, activation="sigmoid", name="a")(x)
    b = layers.ReLU(name="b")(layers.Dense(3)(x))
    return keras.Model([left, right], [a, layers.Reshape((3, 1))(b)], name="outer")


def convolutional():
    inputs = keras.Input((8, 8, 3))
    x = inputs
    for layer in (
        layers.Conv2D(4, 3, activation="relu", padding="same"),
        layers.BatchNormalization(),
        layers.DepthwiseConv2D(3, activation="relu6"),
        layers.SeparableConv2D(4, 1, activation="relu"),
        layers.Conv2DTranspose(4, 2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(2),
    ):
        x = layer(x)
    return keras.Model(inputs, x)


def inputs_of(model, samples=3):
    """Random inputs of a model, a list if it has several."""
    random = np.random.default_rng(0)
    arrays = [
        random.normal(0, 3, (samples, *(size or 5 for size in entry.shape[1:])))
        for entry in model.inputs
    ]
    arrays = [array.astype("float32") for array in arrays]
    return arrays if len(arrays) > 1 else arrays[0]


def outputs_of(model, x):
    """Outputs of a model, always a list."""
    return [ops.convert_to_numpy(y) for y in keras.tree.flatten(model(x))]


def trained(model, x):
    """Train for an epoch, and return the paths of the VAFs whose weights change."""
    vafs = find_layers(model, VAFActivation)
    before = {path: vaf.get_weights() for path, vaf in vafs.items()}
    y = keras.tree.map_structure(ops.ones_like, model(x))
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    pairs = {p: zip(v.get_weights(), before[p], strict=True) for p, v in vafs.items()}
    return [p for p, each in pairs.items() if any(np.any(a != b) for a, b in each)]


def scatter(model):
    """Give every weight another value, those of a normalization included."""
    random = np.random.default_rng(1)
    model.set_weights(
        [w + random.uniform(0, 0.3, w.shape) for w in model.get_weights()]
    )
    return model


def assert_equal_outputs(one, other, x=None, tolerance=1e-5):
    x = inputs_of(one) if x is None else x
    for a, b in zip(outputs_of(one, x), outputs_of(other, x), strict=True):
        a, b = a.astype("float32"), b.astype("float32")
        np.testing.assert_allclose(b, a, tolerance, tolerance * max(1, np.abs(a).max()))


def replaced(model):
    return [change.layer for change in report(model).replaced]


def reasons(model):
    return {kept.layer: kept.kept for kept in report(model).kept}
