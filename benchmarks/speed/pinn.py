"""A training step of a physics-informed network: u'' + sin = 0, three layers of 32."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks.speed.cases import Mode


def pinn_step(
    mode: Mode, activation: Callable[[], keras.layers.Layer], points: int
) -> Callable[[], Any]:
    """A step of Adam on the mean squared residual at `points` points."""
    hidden = [part for _ in range(3) for part in (keras.layers.Dense(32), activation())]
    network = keras.Sequential([keras.Input((1,)), *hidden, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(network.trainable_variables)
    x = np.linspace(-3, 3, points, dtype="float32")[:, None]
    make = {"jax": _on_jax, "tensorflow": _on_tensorflow, "torch": _on_torch}
    return make[mode.backend](network, optimizer, x)


def _on_jax(network: Any, optimizer: Any, x: Any) -> Callable[[], Any]:
    import jax

    x = jax.numpy.asarray(x)

    def loss(weights):
        def u(x):
            return network.stateless_call(weights, [], x, training=True)[0].sum()

        def slope(x):
            return jax.grad(u)(x).sum()

        return ((jax.grad(slope)(x) + jax.numpy.sin(x)) ** 2).mean()

    @jax.jit
    def step(weights, state):
        gradients = jax.grad(loss)(weights)
        return optimizer.stateless_apply(state, gradients, weights)

    weights = [variable.value for variable in network.trainable_variables]
    state = [variable.value for variable in optimizer.variables]
    return lambda: jax.block_until_ready(step(weights, state))


def _on_tensorflow(network: Any, optimizer: Any, x: Any) -> Callable[[], Any]:
    import tensorflow as tf

    x = tf.constant(x)

    @tf.function(autograph=False)
    def step():
        weights = [variable.value for variable in network.trainable_variables]
        with tf.GradientTape() as tape:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    u = network(x, training=True)
                slope = inner.gradient(u, x)
            loss = tf.reduce_mean((outer.gradient(slope, x) + tf.sin(x)) ** 2)
        gradients = tape.gradient(loss, weights, unconnected_gradients="zero")
        optimizer.apply(gradients, network.trainable_variables)

    return step


def _on_torch(network: Any, optimizer: Any, x: Any) -> Callable[[], Any]:
    import torch

    x = keras.ops.convert_to_tensor(x).requires_grad_()
    weights = [variable.value for variable in network.trainable_variables]

    def step():
        u = network(x, training=True)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        loss = ((curvature + torch.sin(x)) ** 2).mean()
        gradients = torch.autograd.grad(loss, weights, materialize_grads=True)
        with torch.no_grad():
            optimizer.apply(gradients, network.trainable_variables)

    return step
