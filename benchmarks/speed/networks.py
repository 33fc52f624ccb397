"""Networks of Keras, for a processor and for a GPU, and what is measured of them."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers

from keras_vaf.models import convert

Works = dict[str, Callable[[], Any]]


class Arm(NamedTuple):
    """An activation: a fixed function, `"PReLU"`, or `"VAF"`, which has the rest."""

    activation: str
    g: str = ""
    k: int = 0
    sharing: str = ""


class Network(NamedTuple):
    """A network to measure, and the number of batches that are measured together.

    `build` is a function of the input and the name of an activation, and returns the
    last hidden tensor. Inputs of a network with a vocabulary are tokens.
    """

    build: Callable[[Any, str], Any]
    shape: tuple[int, ...]
    batch: int
    steps: int = 1
    vocabulary: int = 0


def _mlp(x: Any, g: str) -> Any:
    return layers.Dense(64, activation=g)(layers.Dense(64, activation=g)(x))


def _resnet(x: Any, g: str) -> Any:
    """Six blocks of 16, 32 and 64 filters, and 13 activations."""

    def conv(x: Any, filters: int, stride: int = 1, size: int = 3) -> Any:
        layer = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)
        return layers.BatchNormalization()(layer(x))

    x = layers.Activation(g)(conv(x, 16))
    for filters, stride in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        branch = conv(layers.Activation(g)(conv(x, filters, stride)), filters)
        if stride > 1:
            x = conv(x, filters, stride, size=1)
        x = layers.Activation(g)(keras.layers.add([x, branch]))
    return layers.GlobalAveragePooling2D()(x)


def _application(name: str, x: Any, g: str) -> Any:
    """A model of Keras, whose activations are g already."""
    application = getattr(keras.applications, name)
    made = application(input_shape=x.shape[1:], weights=None, include_top=False)
    return layers.GlobalAveragePooling2D()(made(x))


def _blocks(x: Any, g: str, blocks: int, heads: int, **attention: Any) -> Any:
    """Return what blocks of a transformer make of x."""
    width = x.shape[-1]
    for _ in range(blocks):
        normal = layers.LayerNormalization()(x)
        heads_of = layers.MultiHeadAttention(heads, width // heads)
        x = x + heads_of(normal, normal, **attention)
        hidden = layers.Dense(4 * width)(layers.LayerNormalization()(x))
        x = x + layers.Dense(width)(layers.Activation(g)(hidden))
    return x


def _transformer(x: Any, g: str) -> Any:
    return layers.GlobalAveragePooling1D()(_blocks(x, g, blocks=4, heads=4))


def _language(x: Any, g: str) -> Any:
    x = layers.Embedding(8192, 768)(x)
    x = _blocks(x, g, blocks=12, heads=12, use_causal_mask=True)
    return layers.LayerNormalization()(x)


def _lstm(x: Any, g: str) -> Any:
    return layers.LSTM(64, activation=g, name="recurrent")(x)


_mobilenet = functools.partial(_application, "MobileNetV2")  # 35 activations
_resnet50 = functools.partial(_application, "ResNet50")
NETWORKS = {
    "MLP": Network(_mlp, (64,), batch=32, steps=100),
    "ResNet": Network(_resnet, (32, 32, 3), batch=64),
    "MobileNetV2": Network(_mobilenet, (64, 64, 3), batch=16),
    "transformer": Network(_transformer, (32, 128), batch=16, steps=2),
    "LSTM": Network(_lstm, (32, 32), batch=32, steps=8),
    "resnet50": Network(_resnet50, (224, 224, 3), batch=128),
    "language": Network(_language, (512,), batch=16, vocabulary=8192),
}


def network(case: str, arm: Arm, g: str, jit_compile: Any = "auto") -> list[Any]:
    """Return a compiled classifier, its inputs and its targets."""
    build, shape, batch, steps, vocabulary = NETWORKS[case]
    keras.utils.set_random_seed(0)
    inputs = keras.Input(shape, dtype="int32" if vocabulary else None)
    model = keras.Model(inputs, layers.Dense(vocabulary or 10)(build(inputs, g)))
    if arm.activation == "VAF":
        # Functions in a recurrent layer are replaced only if it is named.
        named = "recurrent" if case == "LSTM" else None
        model = convert(model, k=arm.k, sharing=arm.sharing, layers=named)
    elif arm.activation == "PReLU":  # one slope a channel
        axes = [1] if vocabulary else list(range(1, len(shape))) or None
        model = convert(model, to=lambda _: layers.PReLU(shared_axes=axes))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(1e-4), loss, jit_compile=jit_compile)
    random = np.random.default_rng(0)
    count = batch * steps
    if vocabulary:
        tokens = random.integers(vocabulary, size=(count, *shape))
        return [model, tokens, tokens]
    x = random.standard_normal((count, *shape), "float32")
    return [model, x, random.integers(10, size=count)]


def works(case: str, arm: Arm, g: str, compiled: bool) -> Works:
    """Return the first step, and programs of `NETWORKS[case].steps` batches each."""
    model, x, y = network(case, arm, g, compiled or "auto")
    batch = NETWORKS[case].batch
    options: dict[str, Any] = {"batch_size": batch, "verbose": 0}
    return {
        "first step": functools.partial(model.fit, x[:batch], y[:batch], **options),
        "training": functools.partial(model.fit, x, y, shuffle=False, **options),
        "inference": functools.partial(model.predict, x, **options),
    }
