"""A layer alone: its forward pass, and its forward and backward pass.

Output and all gradients are returned: a compiler drops what nobody asks for.
"""

import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks.speed.cases import ARRAYS, Activation
from keras_vaf import layers
from keras_vaf.initializers import RandomStart

Works = dict[str, Callable[[], Any]]


def prelu(rank: int) -> keras.layers.Layer:
    """Return a PReLU with one slope for each channel of inputs of that rank."""
    return keras.layers.PReLU(shared_axes=list(range(1, rank - 1)) or None)


def layer(activation: Activation, rank: int) -> keras.layers.Layer:
    """Return a new layer for inputs of that rank."""
    name, *settings = activation
    if name == "PReLU":
        return prelu(rank)
    if name == "VAF":
        g, k, sharing = settings
        return layers.VAFActivation(k, g, sharing, RandomStart(seed=0))
    if hasattr(layers, name):
        return getattr(layers, name)()
    return keras.layers.Activation(name)


def works(
    case: str, activation: Activation, compiled: bool
) -> tuple[Works, int | None]:
    """Return programs of a layer by name, each of which returns when its work is done.

    Returns:
        The programs, and the bytes that PyTorch keeps for the backward pass.
    """
    shape = ARRAYS[case]
    subject = layer(activation, len(shape))
    subject.build(shape)
    random = np.random.default_rng(0)
    x, upstream = (
        keras.ops.convert_to_tensor(random.standard_normal(shape, "float32"))
        for _ in range(2)
    )
    backend, kept = keras.backend.backend(), None
    if backend == "torch":
        programs = _on_torch(subject, x, upstream)
        kept = kept_bytes(subject, x)
    elif backend == "jax":
        programs = _on_jax(subject, x, upstream)
    else:
        programs = _on_tensorflow(subject, x, upstream, compiled)
    for run in programs:
        run()
    return dict(zip(("forward", "forward and gradient"), programs, strict=True)), kept


def _on_jax(layer: Any, x: Any, upstream: Any) -> list[Callable]:
    import jax

    network = keras.Sequential([layer])  # it knows `training`, not every layer does
    network.build(x.shape)

    def forward(weights, x, training=False):
        return network.stateless_call(weights, others, x, training=training)

    def both(weights, x, upstream):
        function = functools.partial(forward, training=True)
        y, pull_back, state = jax.vjp(function, weights, x, has_aux=True)
        return y, state, pull_back(upstream)

    weights = [variable.value for variable in network.trainable_variables]
    others = [variable.value for variable in network.non_trainable_variables]
    once, twice = jax.jit(forward), jax.jit(both)
    return [
        lambda: jax.block_until_ready(once(weights, x)),
        lambda: jax.block_until_ready(twice(weights, x, upstream)),
    ]


def _on_tensorflow(layer: Any, x: Any, upstream: Any, compiled: bool) -> list[Callable]:
    import tensorflow as tf

    @tf.function(jit_compile=compiled, autograph=False)
    def forward(x):
        return layer(x)

    @tf.function(jit_compile=compiled, autograph=False)
    def both(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        weights = [variable.value for variable in layer.trainable_variables]
        return y, tape.gradient(y, [x, *weights], upstream)

    def run(function, *tensors):
        result = function(*tensors)
        tf.test.experimental.sync_devices()
        return result

    return [lambda: run(forward, x), lambda: run(both, x, upstream)]


def _on_torch(layer: Any, x: Any, upstream: Any) -> list[Callable]:
    import torch

    x.requires_grad_()
    weights = [variable.value for variable in layer.trainable_variables]

    def forward():
        with torch.no_grad():
            return layer(x)

    def both():
        y = layer(x, training=True)
        return y, torch.autograd.grad(y, [x, *weights], upstream)

    return [forward, both]


def kept_bytes(layer: Any, x: Any) -> int:
    """Return the bytes that PyTorch keeps for the backward pass, without weights."""
    import torch

    saved = {}

    def keep(tensor):
        memory = tensor.untyped_storage()
        saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        y = layer(
            x, training=True
        )  # it holds the memory, whose addresses stay different
    for variable in layer.trainable_variables:
        saved.pop(variable.value.untyped_storage().data_ptr(), None)
    del y
    return sum(saved.values())
