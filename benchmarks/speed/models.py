"""Whole networks: a training step by `fit`, a batch by `predict`, the first step."""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks.speed.cases import Activation
from benchmarks.speed.layers import Works, layer
from keras_vaf.models import convert

CLASSES = 10
RECURRENT = "recurrent"  # `convert` replaces functions inside a named layer only
Make = Callable[[], Any]
"""Returns a new activation."""


@dataclasses.dataclass(frozen=True)
class Network:
    """A network to measure.

    Args:
        build: Function of a `Make` and the input; returns the last hidden tensor.
        shape: Shape of one sample.
        batch: Samples in a batch.
        steps: Batches that are measured together.
    """

    build: Callable[[Make, Any], Any]
    shape: tuple[int, ...]
    batch: int
    steps: int


def _mlp(make: Make, x: Any) -> Any:
    for _ in range(2):
        x = make()(keras.layers.Dense(64)(x))
    return x


def _resnet(make: Make, x: Any) -> Any:
    """Six blocks of 16, 32 and 64 filters, and 13 activations."""

    def conv(x, filters, stride=1, size=3):
        x = keras.layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(
            x
        )
        return keras.layers.BatchNormalization()(x)

    x = make()(conv(x, 16))
    for filters, stride in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        branch = conv(make()(conv(x, filters, stride)), filters)
        if stride > 1:
            x = conv(x, filters, stride, size=1)
        x = make()(keras.layers.add([x, branch]))
    return keras.layers.GlobalAveragePooling2D()(x)


def _mobilenet(make: Make, x: Any) -> Any:
    """MobileNetV2 of Keras, with other activations in place of its 35."""
    made = keras.applications.MobileNetV2(x.shape[1:], weights=None, include_top=False)

    def clone(part):
        if isinstance(part, keras.layers.ReLU):
            return make()
        return type(part).from_config(part.get_config())

    x = keras.models.clone_model(made, clone_function=clone)(x)
    return keras.layers.GlobalAveragePooling2D()(x)


def _transformer(make: Make, x: Any) -> Any:
    """Four blocks of width 128, with 512 hidden units."""
    for _ in range(4):
        normal = keras.layers.LayerNormalization()(x)
        x += keras.layers.MultiHeadAttention(4, 32)(normal, normal)
        normal = keras.layers.LayerNormalization()(x)
        hidden = make()(keras.layers.Dense(512)(normal))
        x += keras.layers.Dense(128)(hidden)
    return keras.layers.GlobalAveragePooling1D()(x)


def _lstm(make: Make, x: Any) -> Any:
    return keras.layers.LSTM(64, activation=make(), name=RECURRENT)(x)


NETWORKS = {
    "MLP": Network(_mlp, (64,), batch=32, steps=100),
    "ResNet": Network(_resnet, (32, 32, 3), batch=64, steps=1),
    "MobileNetV2": Network(_mobilenet, (64, 64, 3), batch=16, steps=1),
    "transformer": Network(_transformer, (32, 128), batch=16, steps=2),
    "LSTM": Network(_lstm, (32, 32), batch=32, steps=8),
}


def model(network: Network, activation: Activation, g: str) -> keras.Model:
    """A compiled classifier. A VAF comes into it by `convert`, as for a user."""
    name = g if activation.name == "VAF" else activation.name
    rank = len(network.shape) + 1

    def make():
        if network.build is _lstm:
            return name  # the fused programs ask for the name
        return layer(Activation(name), rank)

    keras.utils.set_random_seed(0)
    inputs = keras.Input(network.shape)
    outputs = keras.layers.Dense(CLASSES)(network.build(make, inputs))
    made = keras.Model(inputs, outputs)
    if activation.name == "VAF":
        named = RECURRENT if network.build is _lstm else None
        made = convert(made, k=activation.k, layers=named)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(keras.optimizers.SGD(1e-3), loss)
    return made


def works(case: str, activation: Activation, g: str) -> tuple[Works, float]:
    """Return functions to measure of a network, and the seconds of its first step.

    Returns:
        Functions by name, each of which runs `NETWORKS[case].steps` batches.
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
