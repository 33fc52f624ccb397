"""The networks whose training steps are measured, each as `fit` runs it."""

import keras
import numpy as np

from benchmarks.speed.activations import layer
from benchmarks.speed.cases import Activation, Mode
from keras_vaf.models import cnet

CLASSES = 10


def cnet_b(activation: Activation, shape: tuple[int, ...]) -> list[keras.layers.Layer]:
    """Hidden layers of the paper's convolutional network B, for such inputs."""
    network = cnet(shape[1:], (150, 150), CLASSES, lambda: layer(activation, rank=4))
    return network.layers[:-1]


def small(activation: Activation) -> list[keras.layers.Layer]:
    """Two dense layers of 64 units: what counts is the cost of a call."""
    return [
        part
        for _ in range(2)
        for part in (keras.layers.Dense(64), layer(activation, rank=2))
    ]


def compiled_model(
    hidden: list[keras.layers.Layer], shape: tuple[int, ...], mode: Mode
) -> keras.Model:
    """A classifier of inputs of that shape, ready for `fit`."""
    output = keras.layers.Dense(CLASSES, activation="softmax")
    model = keras.Sequential([keras.Input(shape[1:]), *hidden, output])
    model.compile(
        optimizer="rmsprop",
        loss="sparse_categorical_crossentropy",
        jit_compile=mode.compiled,
    )
    return model


def batches(shape: tuple[int, ...], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and labels for `steps` batches of a shape."""
    random = np.random.default_rng(0)
    count = steps * shape[0]
    x = random.standard_normal((count, *shape[1:]), "float32")
    return x, random.integers(CLASSES, size=count)


def step_memory(
    model: keras.Model, x: np.ndarray, y: np.ndarray, mode: Mode
) -> dict[str, int]:
    """Bytes of one training step, where the backend knows them."""
    from benchmarks.speed.programs import memory_of, saved_by

    if mode.backend == "jax":
        import jax

        parts = (
            model.trainable_variables,
            model.non_trainable_variables,
            model.optimizer.variables,
            model.metrics_variables,
        )
        state = tuple([variable.value for variable in part] for part in parts)
        step = jax.jit(model.train_step, donate_argnums=0)
        return memory_of(step.lower(state, (x, y)))
    if mode.backend == "torch":
        weights = [variable.value for variable in model.trainable_variables]
        return saved_by(lambda: model(x, training=True), weights)
    return {}
