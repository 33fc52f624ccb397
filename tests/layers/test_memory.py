"""Kernels and splines make nothing of the size of their basis: one input is kept."""

import math

import numpy as np
import pytest

from keras_vaf import layers

SHAPE = (64, 32, 32, 64)
SIZE = math.prod(SHAPE)

activations = pytest.mark.parametrize(
    "layer",
    [layers.KAF(D=20), layers.SplineActivation(), layers.KAF(D=20, sharing="layer")],
    ids=lambda layer: layer.name,
)


@pytest.mark.backend("jax")
@activations
def test_xla_needs_less_than_a_quarter_of_the_input(layer):
    import jax

    layer.build(SHAPE)
    weights = [variable.value for variable in layer.trainable_variables]

    def step(weights, x, upstream):
        def call(weights, x):
            return layer.stateless_call(weights, [], x, training=True)[0]

        y, pull_back = jax.vjp(call, weights, x)
        return y, pull_back(upstream)

    x = jax.ShapeDtypeStruct(SHAPE, "float32")
    program = jax.jit(step).lower(weights, x, x).compile()
    assert program.memory_analysis().temp_size_in_bytes <= 4 * SIZE / 4


@pytest.mark.backend("torch")
@activations
def test_torch_keeps_the_input_alone(layer):
    import torch

    layer.build((None, 3, 4, 5))
    x = torch.zeros((2, 3, 4, 5), requires_grad=True)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: kept.append(tuple(tensor.shape)), lambda nothing: nothing
    ):
        layer(x, training=True)
    assert sorted(kept) == sorted([(2, 3, 4, 5), *(w.shape for w in layer.weights)])


@pytest.mark.backend("jax")
def test_the_usual_implementation_would_be_seen():
    import jax

    points = np.linspace(-3, 3, 20).astype("float32")

    def kaf(alpha, x):
        return (alpha * jax.numpy.exp(-((x[..., None] - points) ** 2))).sum(-1)

    x = jax.ShapeDtypeStruct((SIZE,), "float32")
    alpha = jax.ShapeDtypeStruct((20,), "float32")

    def step(alpha, x, upstream):
        y, pull_back = jax.vjp(kaf, alpha, x)
        return y, pull_back(upstream)

    program = jax.jit(step).lower(alpha, x, x).compile()
    assert program.memory_analysis().temp_size_in_bytes > 10 * 4 * SIZE
