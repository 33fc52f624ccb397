"""The operation in TensorFlow's graphs and under its transformations."""

import keras
import numpy as np
import pytest

from keras_vaf.ops import VAF, pointwise
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


@pytest.mark.parametrize("unshared, graph", [((), False), ((1,), True)])
@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_forward_mode(g, unshared, graph):
    import tensorflow as tf

    upstream, *arguments = draw((20, 4), unshared, k=2, g=g)
    x, *parameters = to_tensors(arguments)

    def along_ones(primal):
        with tf.autodiff.ForwardAccumulator(primal, tf.ones_like(primal)) as forward:
            function = VAF(getattr(keras.activations, g))
            y = pointwise(function, x, parameters, unshared, training=True)
        return forward.jvp(y)

    def run():
        return along_ones(x), along_ones(parameters[0])

    of_x, of_alpha = (tf.function(run) if graph else run)()
    ones = np.ones_like(upstream)
    slope = reference.vaf_gradients(ones, *arguments, g, unshared)[0]
    np.testing.assert_allclose(of_x, slope, 1e-9, 1e-12)
    # The sum of a tangent, weighted by `upstream`, is the sum of the gradient.
    gradient = reference.vaf_gradients(upstream, *arguments, g, unshared)[1]
    weighted = np.sum(upstream * of_alpha.numpy())
    np.testing.assert_allclose(weighted, np.sum(gradient), 1e-9, 1e-9)
