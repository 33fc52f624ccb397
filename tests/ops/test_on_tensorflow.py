"""The operation in TensorFlow's graphs and under its transformations."""

import keras
import numpy as np
import pytest

from keras_vaf.ops import VAF, plain_differentiation, pointwise
from tests import reference
from tests.harness import to_arrays, to_tensors
from tests.ops.test_vaf import draw

pytestmark = pytest.mark.backend("tensorflow")

SIGMOID = VAF(keras.activations.sigmoid)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(
    "signature, unshared", [((None, None, None, 3), (3,)), ((None, None, 3), ())]
)
def test_graphs_take_unknown_batch_and_spatial_sizes(
    jit_compile, training, signature, unshared
):
    import tensorflow as tf

    known = tuple(2 if size is None else size for size in signature)
    _, _, *parameters = draw(known, unshared, k=2, g="sigmoid")
    tensors = to_tensors(parameters)
    spec = tf.TensorSpec(signature, "float64")

    @tf.function(input_signature=[spec, spec], jit_compile=jit_compile)
    def compute(upstream, x):
        with tf.GradientTape() as tape:
            tape.watch([x, *tensors])
            y = pointwise(SIGMOID, x, tensors, unshared, training)
        return y, *tape.gradient(y, [x, *tensors], upstream)

    for size in (1, 5):
        shape = tuple(size if n is None else n for n in signature)
        upstream, x, *_ = draw(shape, unshared, k=2, g="sigmoid")
        arguments = (x, *parameters, "sigmoid", unshared)
        expected = [
            reference.vaf(*arguments),
            *reference.vaf_gradients(upstream, *arguments),
        ]
        computed = to_arrays(compute(*to_tensors([upstream, x])))
        for have, want in zip(computed, expected, strict=True):
            np.testing.assert_allclose(have, want, 1e-9, 1e-12)


def test_jacobian_and_vectorized_map():
    import tensorflow as tf

    _, *arguments = draw((3, 4), (), k=2, g="sigmoid")
    x, *parameters = to_tensors(arguments)
    slope = reference.vaf_gradients(np.ones((3, 4)), *arguments, "sigmoid")[0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pointwise(SIGMOID, x, parameters)
    jacobian = tape.batch_jacobian(y, x).numpy()
    for have, want in zip(jacobian, slope, strict=True):
        np.testing.assert_allclose(have, np.diag(want), 1e-9, 1e-12)

    mapped = tf.vectorized_map(lambda row: pointwise(SIGMOID, row, parameters), x)
    np.testing.assert_allclose(mapped, reference.vaf(*arguments, "sigmoid"), 1e-9)


def test_forward_mode_says_what_it_needs():
    import tensorflow as tf

    _, *arguments = draw((3, 4), (), k=2, g="sigmoid")
    x, *parameters = to_tensors(arguments)

    def tangent():
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = pointwise(SIGMOID, x, parameters)
        return accumulator.jvp(y)

    with pytest.raises(RuntimeError, match="plain_differentiation"):
        tangent()
    slope = reference.vaf_gradients(np.ones((3, 4)), *arguments, "sigmoid")[0]
    with plain_differentiation():
        np.testing.assert_allclose(tangent(), slope, 1e-9)


def programs_of_xla(function, x):
    """Return how many programs of XLA's a graph runs in its forward pass."""
    graph = function.get_concrete_function(x).graph
    compiled = {
        name
        for name, called in graph._functions.items()
        if called.cached_definition.attr["_XlaMustCompile"].b
    }
    return sum(
        operation.type == "PartitionedCall" and operation.get_attr("f").name in compiled
        for operation in graph.get_operations()
    )


@pytest.mark.parametrize("shape", [(2, 96, 96), (None, 96, 96), (None, None, 64)])
def test_inference_is_compiled_unless_it_is_exported(shape):
    import tensorflow as tf

    tensors = to_tensors(draw((2, 96, 96), (), k=2, g="sigmoid")[1:])
    x, *parameters = (tf.cast(tensor, "float32") for tensor in tensors)
    x = x[..., : shape[-1]]

    def make():
        return tf.function(
            lambda x: pointwise(SIGMOID, x, parameters),
            input_signature=[tf.TensorSpec(shape)],
        )

    called, exported = make(), make()
    y = called(x)
    assert programs_of_xla(called, x) == 1
    assert programs_of_xla(exported, x) == 0
    np.testing.assert_allclose(exported(x), y, 1e-6, 1e-6)


def test_vectorized_map_over_compiled_inference():
    import tensorflow as tf

    _, *arguments = draw((2, 160, 128), (), k=2, g="sigmoid")
    x, *parameters = to_tensors(arguments)
    mapped = tf.vectorized_map(lambda row: pointwise(SIGMOID, row, parameters), x)
    np.testing.assert_allclose(mapped, reference.vaf(*arguments, "sigmoid"), 1e-9)
