"""Whole networks: a training step by `fit`, a batch by `predict`, the first step."""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers

from benchmarks.speed import cases
from benchmarks.speed.layers import Works, prelu
from keras_vaf.models import convert

CLASSES = 10


class Network(NamedTuple):
    """A network to measure, and the number of batches that are measured together.

    `build` is a function of the input and the name of an activation, and returns the
    last hidden tensor.
    """

    build: Callable[[Any, str], Any]
    shape: tuple[int, ...]
    batch: int
    steps: int


def _mlp(x: Any, g: str) -> Any:
    return layers.Dense(64, activation=g)(layers.Dense(64, activation=g)(x))


def _resnet(x: Any, g: str) -> Any:
    """Six blocks of 16, 32 and 64 filters, and 13 activations."""

    def conv(x, filters, stride=1, size=3):
        layer = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)
        return layers.BatchNormalization()(layer(x))

    x = layers.Activation(g)(conv(x, 16))
    for filters, stride in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        branch = conv(layers.Activation(g)(conv(x, filters, stride)), filters)
        if stride > 1:
            x = conv(x, filters, stride, size=1)
        x = layers.Activation(g)(keras.layers.add([x, branch]))
    return layers.GlobalAveragePooling2D()(x)


def _mobilenet(x: Any, g: str) -> Any:
    """MobileNetV2 of Keras, whose 35 activations are relu6."""
    made = keras.applications.MobileNetV2(x.shape[1:], weights=None, include_top=False)
    return layers.GlobalAveragePooling2D()(made(x))


def transformer(x: Any, g: str, blocks: int, heads: int, **attention: Any) -> Any:
    """Return what blocks make of a tensor; hidden units are four times its width."""
    width = x.shape[-1]
    for _ in range(blocks):
        normal = layers.LayerNormalization()(x)
        heads_of = layers.MultiHeadAttention(heads, width // heads)
        x = x + heads_of(normal, normal, **attention)
        hidden = layers.Dense(4 * width)(layers.LayerNormalization()(x))
        x = x + layers.Dense(width)(layers.Activation(g)(hidden))
    return x


def _transformer(x: Any, g: str) -> Any:
    return layers.GlobalAveragePooling1D()(transformer(x, g, blocks=4, heads=4))


def _lstm(x: Any, g: str) -> Any:
    return layers.LSTM(64, activation=g, name="recurrent")(x)


NETWORKS = {
    "MLP": Network(_mlp, (64,), batch=32, steps=100),
    "ResNet": Network(_resnet, (32, 32, 3), batch=64, steps=1),
    "MobileNetV2": Network(_mobilenet, (64, 64, 3), batch=16, steps=1),
    "transformer": Network(_transformer, (32, 128), batch=16, steps=2),
    "LSTM": Network(_lstm, (32, 32), batch=32, steps=8),
}


def model(network: Network, activation: cases.Activation, g: str) -> keras.Model:
    """A compiled classifier. PReLU and VAF come into it by `convert`."""
    keras.utils.set_random_seed(0)
    inputs = keras.Input(network.shape)
    fixed = activation.name not in ("VAF", "PReLU")
    hidden = network.build(inputs, activation.name if fixed else g)
    made = keras.Model(inputs, layers.Dense(CLASSES)(hidden))
    if activation.name == "VAF":  # `convert` replaces functions in a named layer only
        named = "recurrent" if network.build is _lstm else None
        made = convert(made, k=activation.k, layers=named)
    elif activation.name == "PReLU":
        rank = len(network.shape) + 1
        made = convert(made, to=lambda _: prelu(rank))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(keras.optimizers.SGD(1e-3), loss)
    return made


def works(case: str, activation: cases.Activation, g: str) -> tuple[Works, float]:
    """Return functions by name, each of `NETWORKS[case].steps` batches, to measure.

    Returns:
        The functions, and the seconds of the first step.
    """
    network = NETWORKS[case]
    made = model(network, activation, g)
    random = np.random.default_rng(0)
    count = network.batch * network.steps
    x = random.standard_normal((count, *network.shape), "float32")
    y = random.integers(CLASSES, size=count)
    options: dict[str, Any] = {"batch_size": network.batch, "verbose": 0}
    start = time.perf_counter()
    made.fit(x[: network.batch], y[: network.batch], **options)
    first = time.perf_counter() - start
    programs = {
        "training": functools.partial(made.fit, x, y, shuffle=False, **options),
        "inference": functools.partial(made.predict, x, **options),
    }
    for run in programs.values():
        run()
    return programs, first


def on_gpu(name: str) -> tuple[keras.Model, Any, Any]:
    """Return a model for `benchmarks.speed.gpu`, its inputs and its targets."""
    random = np.random.default_rng(0)
    if name == "resnet50":
        application = keras.applications.ResNet50
        made = application(weights=None, classes=100, classifier_activation=None)
        x = random.normal(size=(128, 224, 224, 3)).astype("float32")
        return made, x, random.integers(100, size=128)
    if name == "small":
        inputs = keras.Input((64,))
        outputs = layers.Dense(CLASSES)(_mlp(inputs, "relu"))
        return keras.Model(inputs, outputs), np.ones((256, 64)), np.zeros(256)
    inputs = keras.Input((512,), dtype="int32")
    x = layers.Embedding(8192, 768)(inputs)
    x = transformer(x, "gelu", blocks=12, heads=12, use_causal_mask=True)
    outputs = layers.Dense(8192)(layers.LayerNormalization()(x))
    tokens = random.integers(8192, size=(16, 512))
    return keras.Model(inputs, outputs), tokens, tokens
