"""Forward and backward pass of a layer as a program, on each backend and in each mode.

Output and all gradients are returned: a compiler drops what nobody asks for.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks.speed.activations import Chain
from benchmarks.speed.cases import Mode


@dataclasses.dataclass(frozen=True)
class Program:
    """The measured programs; each part returns when its work is done.

    Args:
        forward: Returns the output, as at inference.
        forward_backward: Returns the output (on JAX with the new state), the gradient
            of the input, and the list of
            those of the weights.
        memory: Bytes and counts that the backend itself knows, by name.
    """

    forward: Callable[[], Any]
    forward_backward: Callable[[], Any]
    memory: Callable[[], dict[str, int]]


def program(
    mode: Mode, layer: keras.layers.Layer, x: np.ndarray, upstream: np.ndarray
) -> Program:
    layer.build(x.shape)
    make = {"jax": _on_jax, "tensorflow": _on_tensorflow, "torch": _on_torch}
    inputs = (
        keras.ops.cast(keras.ops.convert_to_tensor(a), layer.compute_dtype)
        for a in (x, upstream)
    )
    return make[mode.backend](layer, *inputs, mode.compiled)


def _on_jax(layer: Any, x: Any, upstream: Any, compiled: bool) -> Program:
    import jax

    # A network knows `training`, which not every layer does.
    network = layer if isinstance(layer, Chain) else keras.Sequential([layer])
    if not network.built:
        network.build(x.shape)

    def forward(weights, x, training=False):
        return network.stateless_call(weights, others, x, training=training)

    def forward_backward(weights, x, upstream):
        function = functools.partial(forward, training=True)
        y, pull_back, state = jax.vjp(function, weights, x, has_aux=True)
        weight_gradients, x_gradient = pull_back(upstream)
        return (y, state), x_gradient, weight_gradients

    weights = [variable.value for variable in layer.trainable_variables]
    others = [variable.value for variable in layer.non_trainable_variables]
    once, both = jax.jit(forward), jax.jit(forward_backward)
    return Program(
        lambda: jax.block_until_ready(once(weights, x)),
        lambda: jax.block_until_ready(both(weights, x, upstream)),
        lambda: memory_of(both.lower(weights, x, upstream)),
    )


def memory_of(lowered: Any) -> dict[str, int]:
    """XLA's own account of a JAX program."""
    memory = lowered.compile().memory_analysis()
    given = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return {
        "temporary_bytes": memory.temp_size_in_bytes,
        "peak_bytes": given - memory.alias_size_in_bytes + memory.temp_size_in_bytes,
    }


def _on_tensorflow(layer: Any, x: Any, upstream: Any, compiled: bool) -> Program:
    import tensorflow as tf

    def forward(x):
        return layer(x)

    def forward_backward(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        weights = [variable.value for variable in layer.trainable_variables]
        x_gradient, *weight_gradients = tape.gradient(y, [x, *weights], upstream)
        return y, x_gradient, weight_gradients

    def run(function, *tensors):
        result = function(*tensors)
        tf.test.experimental.sync_devices()
        return result

    once = tf.function(forward, jit_compile=compiled, autograph=False)
    both = tf.function(forward_backward, jit_compile=compiled, autograph=False)
    return Program(lambda: run(once, x), lambda: run(both, x, upstream), dict)


def _on_torch(layer: Any, x: Any, upstream: Any, compiled: bool) -> Program:
    import torch

    def forward():
        with torch.no_grad():
            return run(layer, x)

    def forward_backward():
        y = run(layer, x, training=True)
        x_gradient, *weight_gradients = torch.autograd.grad(y, [x, *weights], upstream)
        synchronize()
        return y, x_gradient, weight_gradients

    def synchronize():
        if x.is_cuda:
            torch.cuda.synchronize()

    def run(function, *arguments, **options):
        result = function(*arguments, **options)
        synchronize()
        return result

    x.requires_grad_()
    weights = [variable.value for variable in layer.trainable_variables]
    if compiled:
        # All layers run the same code. After this many of them, PyTorch would run the
        # code of further layers without compiling it. The default is 8.
        torch._dynamo.config.recompile_limit = 1000
        layer = torch.compile(layer)
    return Program(
        forward,
        forward_backward,
        lambda: saved_by(lambda: layer(x, training=True), weights),
    )


def second_derivatives(
    mode: Mode, layer: keras.layers.Layer, x: np.ndarray
) -> Callable[[], Any]:
    """The gradient, by x and the weights, of the sum of all f'(x)^2."""
    layer.build(x.shape)
    make = {"jax": _second_on_jax, "tensorflow": _second_on_tensorflow}
    return make.get(mode.backend, _second_on_torch)(layer, x)


def _second_on_jax(layer: Any, x: Any) -> Callable[[], Any]:
    import jax

    def loss(weights, x):
        def total(x):
            return layer.stateless_call(weights, [], x)[0].sum()

        return (jax.grad(total)(x) ** 2).sum()

    weights = [variable.value for variable in layer.trainable_variables]
    x = jax.numpy.asarray(x)
    run = jax.jit(jax.grad(loss, argnums=(0, 1)))
    return lambda: jax.block_until_ready(run(weights, x))


def _second_on_tensorflow(layer: Any, x: Any) -> Callable[[], Any]:
    import tensorflow as tf

    @tf.function(autograph=False)
    def run(x):
        weights = [variable.value for variable in layer.trainable_variables]
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = layer(x, training=True)
            loss = tf.reduce_sum(inner.gradient(y, x) ** 2)
        return outer.gradient(loss, [x, *weights])

    x = tf.constant(x)
    return lambda: run(x)


def _second_on_torch(layer: Any, x: Any) -> Callable[[], Any]:
    import torch

    x = keras.ops.convert_to_tensor(x).requires_grad_()
    weights = [variable.value for variable in layer.trainable_variables]

    def run():
        y = layer(x, training=True)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        loss = (slope**2).sum()
        return torch.autograd.grad(loss, [x, *weights], allow_unused=True)

    return run


def saved_by(run: Callable[[], Any], weights: list[Any]) -> dict[str, int]:
    """Return the bytes that PyTorch keeps for the backward pass, without weights."""
    import torch

    saved = {}

    def keep(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    for weight in weights:
        saved.pop(weight.untyped_storage().data_ptr(), None)
    storages = [tensor.untyped_storage().nbytes() for tensor in saved.values()]
    return {"saved_tensors": len(storages), "saved_bytes": sum(storages)}
