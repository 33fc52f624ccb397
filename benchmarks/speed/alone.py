"""An activation alone: its output and all gradients, for an array of float32 numbers.

Programs return all of them: a compiler drops what nobody asks for.
"""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks.speed.networks import Arm, Works
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation

ARRAY = "32 x 32 x 32 x 192"
SHAPE = tuple(map(int, ARRAY.split(" x ")))


def works(arm: Arm, compiled: bool) -> Works:
    """Return a program of a layer, which returns when its work is done."""
    layer = keras.layers.Activation(None if arm.g else arm.activation)
    if arm.g:
        layer = VAFActivation(arm.k, arm.g, arm.sharing, RandomStart(seed=0))
    layer.build(SHAPE)
    weights = [variable.value for variable in layer.trainable_variables]
    numbers = np.random.default_rng(0).standard_normal((2, *SHAPE), "float32")
    x, upstream = map(keras.ops.convert_to_tensor, numbers)
    backend = keras.backend.backend()
    if backend == "torch":
        run = _on_torch(layer, weights, x.requires_grad_(), upstream)
    elif backend == "jax":
        run = _on_jax(layer, weights, x, upstream)
    else:
        run = _on_tensorflow(layer, weights, x, upstream, compiled)
    return {"forward and gradient": run}


def _on_jax(layer: Any, weights: Any, x: Any, upstream: Any) -> Callable[[], Any]:
    import jax

    def forward(weights: Any, x: Any) -> Any:
        return layer.stateless_call(weights, [], x)[0]

    @jax.jit
    def both(weights: Any, x: Any, upstream: Any) -> Any:
        y, pull_back = jax.vjp(forward, weights, x)
        return y, pull_back(upstream)

    return lambda: jax.block_until_ready(both(weights, x, upstream))


def _on_tensorflow(
    layer: Any, weights: Any, x: Any, upstream: Any, compiled: bool
) -> Callable[[], Any]:
    import tensorflow as tf

    @tf.function(jit_compile=compiled, autograph=False)
    def both(x: Any, upstream: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, tape.gradient(y, [x, *weights], upstream)

    return lambda: (both(x, upstream), tf.test.experimental.sync_devices())


def _on_torch(layer: Any, weights: Any, x: Any, upstream: Any) -> Callable[[], Any]:
    import torch

    return lambda: torch.autograd.grad(layer(x), [x, *weights], upstream)
