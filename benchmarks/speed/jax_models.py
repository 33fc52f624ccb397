"""Models of Keras on JAX and their training steps, for `benchmarks.speed.gpu`."""

from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
from keras import Input, Model, Sequential, layers


def prelu(activation: Any) -> Any:
    """Return a PReLU with one slope for each layer."""
    rank = len(activation.output.shape) if hasattr(activation, "output") else 2
    return keras.layers.PReLU(shared_axes=list(range(1, rank)))


def image_model() -> tuple[Any, Any, Any]:
    """Return ResNet-50 and a batch."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(128, 224, 224, 3)), rng.integers(100, size=128)
    application = keras.applications.ResNet50
    model = application(weights=None, classes=100, classifier_activation=None)
    return model, x.astype("float32"), y


def language_model() -> tuple[Any, Any, Any]:
    """Return a transformer of twelve blocks and a batch."""
    inputs = Input((512,), dtype="int32")
    x = layers.Embedding(8192, 768)(inputs)
    for _ in range(12):
        h = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(12, 64)(h, h, use_causal_mask=True)
        h = layers.Dense(3072)(layers.LayerNormalization()(x))
        x = x + layers.Dense(768)(layers.Activation("gelu")(h))
    outputs = layers.Dense(8192)(layers.LayerNormalization()(x))
    tokens = np.random.default_rng(0).integers(8192, size=(16, 512))
    return Model(inputs, outputs), tokens, tokens


def small() -> tuple[Any, Any, Any]:
    """Return a small network and a batch."""
    parts = layers.Dense(64), layers.Activation("relu"), layers.Dense(10)
    return Sequential([Input((64,)), *parts]), np.ones((256, 64)), np.zeros(256)


def step(model: Any, x: Any, y: Any) -> Callable[[], None]:
    """Return a compiled training step, which waits for its result."""
    optimizer = keras.optimizers.SGD(1e-4)
    optimizer.build(model.trainable_variables)
    score = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    groups = model.trainable_variables, model.non_trainable_variables
    state = [[v.value for v in g] for g in (*groups, optimizer.variables)]
    x, y = map(jax.device_put, (x, y))

    def loss(weights: Any, others: Any) -> Any:
        outputs, others = model.stateless_call(weights, others, x, training=True)
        return score(y, outputs.astype("float32")), others

    @jax.jit
    def run(weights: Any, others: Any, slots: Any) -> Any:
        gradient = jax.grad(loss, has_aux=True)
        found, others = gradient(weights, others)
        weights, slots = optimizer.stateless_apply(slots, found, weights)
        return weights, others, slots

    def run_once() -> None:
        state[:] = jax.block_until_ready(run(*state))

    return run_once


ALL = {"resnet50": image_model, "transformer": language_model}
QUICK = {"small": small}
