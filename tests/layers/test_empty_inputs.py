"""Inputs with an axis of size 0, such as a batch without rows, give empty results."""

import keras
import numpy as np
import pytest

from keras_vaf import layers
from tests.harness import to_arrays, to_tensors, vjp
from tests.layers.family import ACTIVATIONS, fresh

VAF = ACTIVATIONS[0]
LAYERS = (keras.layers.PReLU(), *ACTIVATIONS)
CASES = (
    *[(layer, ((0, 3), (2, 3, 0))[i % 2], "channel") for i, layer in enumerate(LAYERS)],
    *[(VAF, (0, 3), "layer"), (VAF, (0, 3, 4), "neuron"), (VAF, (0, 3, 4), (2,))],
    *[(VAF, (2, 0, 4), each) for each in ("layer", "channel", "neuron")],
    (VAF, (0, 0), "channel"),
)


@pytest.mark.parametrize("layer, shape, sharing", CASES)
def test_outputs_and_gradients_have_the_right_shapes_and_sums_are_0(
    layer, shape, sharing
):
    arguments = {"sharing": sharing} if hasattr(layer, "sharing") else {}
    layer = fresh(layer, **arguments)
    layer.build((None, *shape[1:]))
    variables = layer.trainable_variables

    def function(x, *values):
        with keras.StatelessScope(list(zip(variables, values, strict=True))):
            return layer(x, training=True)

    x, upstream = to_tensors([np.zeros(shape, "float32")] * 2)
    weights = (variable.value for variable in variables)
    y, gradients = vjp(function, (x, *weights), upstream)
    assert tuple(y.shape) == tuple(layer(x).shape) == shape
    own = to_arrays(gradients)
    assert own[0].shape == shape
    for gradient, variable in zip(own[1:], variables, strict=True):
        np.testing.assert_array_equal(gradient, np.zeros(variable.shape))


def test_maxout():
    layer = layers.Maxout(2)
    assert tuple(layer(np.zeros((0, 3, 4), "float32")).shape) == (0, 3, 2)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(
    "layer", [VAF, layers.ActivationEnsemble()], ids=lambda layer: layer.name
)
@pytest.mark.parametrize("empty", [0, 3])
def test_a_compiled_step_takes_any_size(layer, jit_compile, empty):
    import tensorflow as tf

    layer = fresh(layer, sharing="channel", data_format="channels_first")
    layer.build((None, 4, None, None))
    before = layer.get_weights()

    @tf.function(
        jit_compile=jit_compile,
        input_signature=[tf.TensorSpec((None, 4, None, None), "float32")],
    )
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, *tape.gradient(y, [x, *layer.trainable_variables])

    sizes = [2, 4, 3, 5]
    sizes[empty] = 0
    y, gradient, *others = to_arrays(step(np.zeros(sizes, "float32")))
    assert y.shape == gradient.shape == tuple(sizes)
    assert not any(np.any(other) for other in others)
    for a, b in zip(layer.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)
