"""The layers that the contract is tested on, from `keras_vaf.layers.ACTIVATIONS`."""

import keras
import numpy as np

import keras_vaf
from keras_vaf import layers

RANDOM = keras_vaf.initializers.RandomStart
CASES = {
    layers.VAFActivation: (
        {"initialization": RANDOM(seed=0)},
        {"g": "tanh", "initialization": RANDOM(seed=1)},
    ),
    layers.KAF: ({"D": 6, "seed": 0}, {"D": 6, "train_gamma": True, "seed": 1}),
    layers.APL: ({"S": 2, "seed": 0},),
    layers.ABU: ({}, {"functions": ("relu", "gelu"), "normalization": "softmax"}),
    layers.MixedActivation: ({}, {"gated": True}),
    layers.SplineActivation: ({"q": 5, "initialization": "gelu"},),
    layers.SnakeBeta: ({}, {"log_scale": False}),
}
ACTIVATIONS = tuple(
    member.layer(**case)
    for member in layers.ACTIVATIONS
    if issubclass(member.layer, layers.TrainableActivation)
    for case in CASES.get(member.layer, ({},))
)


def fresh(layer, **changes):
    """Return a layer without weights, with the same arguments but for some changes."""
    config = {**layer.get_config(), "name": None, **changes}
    return type(layer).from_config(config)


def built(layer, shape, **changes):
    """Return such a layer, built, and with weights some way from their start."""
    layer = fresh(layer, **changes)
    layer.build(shape)
    generator = np.random.default_rng(0)
    layer.set_weights(
        [
            value * (1 + 0.1 * generator.normal(size=value.shape))
            + 0.02 * generator.normal(size=value.shape)
            for value in layer.get_weights()
        ]
    )
    return layer


def sample(shape, dtype="float32"):
    """Return an input that reaches into the tails of every function."""
    return 2 * np.random.default_rng(1).normal(size=shape).astype(dtype)


def make_model():
    """Return a model of all layers side by side, the same on every backend."""
    inputs = keras.Input((6, 4))
    outputs = []
    for i, layer in enumerate(ACTIVATIONS):
        sharing = ("layer", "channel", "neuron")[i % 3]
        outputs.append(fresh(layer, sharing=sharing)(inputs))
    outputs.append(layers.Maxout(k=2)(inputs))
    image = keras.layers.Reshape((6, 4, 1))(inputs)
    outputs.append(layers.MLPConv(filters=(3, 2), kernel_size=2)(image))
    return keras.Model(inputs, outputs)
