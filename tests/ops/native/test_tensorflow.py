"""The kernels under what TensorFlow does with an operation."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import plain_operators
from tests.harness import vjp
from tests.ops.native.harness import assert_close
from tests.ops.native.test_bindings import arguments, operation

pytestmark = pytest.mark.backend("tensorflow")
SHAPE, UNSHARED = (3, 4, 5), (2,)


@pytest.fixture
def tensors(library):
    return arguments(SHAPE, UNSHARED)[1]


def step(g, upstream, *inputs):
    y, gradients = vjp(operation(g, UNSHARED), inputs, upstream)
    return [y, *gradients]


def held(graph):
    """Number of native kernels in a graph and the functions that it calls."""
    definition = graph.as_graph_def()
    nodes = [
        *definition.node,
        *(n for f in definition.library.function for n in f.node_def),
    ]
    return sum(node.op.startswith("KerasVaf") for node in nodes)


def test_graphs_of_unknown_sizes(tensors, used):
    import tensorflow as tf

    arrays, _ = arguments(SHAPE, UNSHARED)
    specs = [
        tf.TensorSpec((None, None, 5)),
        *[tf.TensorSpec(t.shape) for t in tensors[2:]],
    ]
    traced = tf.function(
        lambda *all: step("tanh", *all), input_signature=[specs[0], *specs]
    )
    assert held(traced.get_concrete_function().graph) == 2
    assert_close([t.numpy() for t in traced(*tensors)], arrays, "tanh")
    assert used()


def test_programs_for_xla_hold_no_kernels(tensors, used):
    import tensorflow as tf

    arrays, _ = arguments(SHAPE, UNSHARED)

    @tf.function(jit_compile=True)
    def compiled(*all):
        return tf.function(lambda *inner: step("relu", *inner))(*all)

    assert_close([t.numpy() for t in compiled(*tensors)], arrays, "relu")
    assert not used()


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_model_trains_and_is_saved_with_plain_operators(used, jit_compile, tmp_path):
    import tensorflow as tf

    layers = keras.Input((3,)), keras.layers.Dense(4), VAFActivation(sharing="channel")
    model = keras.Sequential(layers)
    model.compile("sgd", "mse", jit_compile=jit_compile)
    x = np.ones((8, 3), "float32")
    model.fit(x, x[:, :1], batch_size=3, verbose=0)
    assert used() != jit_compile
    y = model.predict(x, verbose=0)
    assert not used()
    model(x)
    assert used()

    model.export(tmp_path / "model", verbose=False)
    assert b"KerasVaf" not in (tmp_path / "model" / "saved_model.pb").read_bytes()
    loaded = tf.saved_model.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.serve(x), y, 1e-6)


def test_plain_operators_let_xla_compile_a_function_that_was_traced_before():
    import tensorflow as tf

    layer, x = VAFActivation(), tf.ones((4, 3))
    inner = tf.function(lambda x: layer(x, training=True))
    with plain_operators():
        expected = inner(x)
    y = tf.function(lambda x: inner(x), jit_compile=True)(x)
    np.testing.assert_allclose(y, expected, 1e-6)
