"""Small inputs: the plain formula, differentiated by the backend."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.ops import NAMES, VAF, pointwise
from keras_vaf.ops.backends import choice
from keras_vaf.ops.functions import get_function
from tests import reference
from tests.harness import double_precision, grad, to_arrays, to_tensors, vjp
from tests.ops.test_vaf import LAYOUTS, SHAPE, UNSHARED, draw, expect

NAMED = ("f", "x", "alpha", "alpha_bias", "beta", "beta_bias")
pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def small(nothing_is_small, monkeypatch):
    for limit in ("SMALL", "MEDIUM", "MEDIUM_SMOOTH"):
        monkeypatch.setattr(choice, limit, 65_536)


def check(g, shape, unshared, k):
    """Compare value and gradients with the reference."""
    function = VAF(get_function(g, "g"))
    arrays = draw(shape, unshared, k, g)
    with double_precision():
        upstream, *arguments = to_tensors(arrays)
        y, gradients = vjp(
            lambda x, *p: pointwise(function, x, p, unshared, training=True),
            arguments,
            upstream,
        )
        computed = to_arrays([y, *gradients])
    for name, have, want in zip(
        NAMED, computed, expect(g, unshared, arrays), strict=True
    ):
        assert have.shape == want.shape, name
        scale = max(1, abs(want).max(initial=0))
        # Keras's tanh on JAX and gelu on TensorFlow have float32 errors.
        np.testing.assert_allclose(have, want, 0, 3e-6 * scale, err_msg=name)


@pytest.mark.parametrize("shape, unshared", LAYOUTS)
def test_values_and_gradients_at_each_layout(shape, unshared):
    check("silu", shape, unshared, k=3)


@pytest.mark.parametrize("g", NAMES)
def test_values_and_gradients_of_each_g(g):
    check(g, SHAPE, UNSHARED, k=2)


def test_gradients_of_gradients_are_finite_differences():
    upstream, *arrays = draw((5, 4), (), k=3, g="sigmoid")
    directions = np.random.default_rng(1).normal(size=(5, 4))

    def slope(x, *parameters):
        def loss(x):
            return ops.sum(weights * pointwise(VAF(ops.sigmoid), x, parameters, ()))

        return ops.sum(steps * grad(loss, [x])[0])

    with double_precision():
        weights, steps, *arguments = to_tensors([upstream, directions, *arrays])
        have = to_arrays(grad(lambda x: slope(x, *arguments[1:]), [arguments[0]]))[0]

    ahead, behind = (
        reference.vaf_gradients(upstream, arrays[0] + h, *arrays[1:], "sigmoid", ())[0]
        for h in (1e-6, -1e-6)
    )
    want = directions * (ahead - behind) / 2e-6
    np.testing.assert_allclose(have, want, 1e-6, 1e-8)


def test_half_precision_is_the_float32_value_rounded_once():
    random = np.random.default_rng(0)
    x = ops.cast(random.normal(size=(32, 8)), "bfloat16")
    parameters = to_tensors(draw((32, 8), (), k=3, g="silu", dtype="float32")[2:])
    y = pointwise(VAF(keras.activations.silu), x, parameters)
    exact = pointwise(VAF(keras.activations.silu), ops.cast(x, "float32"), parameters)
    assert keras.backend.standardize_dtype(y.dtype) == "bfloat16"
    np.testing.assert_array_equal(
        *map(ops.convert_to_numpy, (y, ops.cast(exact, "bfloat16")))
    )


def limit(elements, k, g="relu", covered=False):
    parameters = [np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(())]
    return choice.is_small(VAF(get_function(g, "g")), elements, parameters, covered)


def test_what_is_small():
    assert limit((32, 64), 3) and limit((32, 64), 15) and not limit((512, 64), 15)
    assert limit((None, 64), 3) and not limit((None, 256), 3)
    assert limit((0, 8), 3)
    # The native kernels take relu; its second derivative is 0.
    assert not limit((32, 64), 3, covered=True)
    assert limit((32, 64), 3, "tanh", covered=True)


@pytest.mark.backend("jax")
@pytest.mark.parametrize(
    "g, elements, plain",
    [
        ("relu", 32_768, True),
        ("relu", 32_769, False),
        ("tanh", 131_072, True),
        ("tanh", 131_073, False),
    ],
)
def test_what_jax_differentiates_by_itself(monkeypatch, g, elements, plain):
    monkeypatch.undo()
    function = VAF(get_function(g, "g"))
    assert choice.is_medium(function, elements) is plain


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("batch", [5, None])
@pytest.mark.parametrize("training", [False, True])
def test_tensorflow_runs_no_program_of_xla(batch, training):
    import tensorflow as tf

    _, x, *parameters = to_tensors(draw((5, 4), (), k=3, g="tanh", dtype="float32"))
    tanh = VAF(keras.activations.tanh)
    function = tf.function(
        lambda x: pointwise(tanh, x, parameters, training=training),
        input_signature=[tf.TensorSpec((batch, 4))],
    )
    types = {o.type for o in function.get_concrete_function(x).graph.get_operations()}
    assert "PartitionedCall" not in types and "Tanh" in types


@pytest.mark.backend("torch")
def test_torch_runs_few_operations():
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    run = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            run.append(function)
            return function(*args, **(kwargs or {}))

    _, x, *parameters = to_tensors(draw((5, 4), (), k=15, g="tanh", dtype="float32"))
    with Watch(), torch.no_grad():
        pointwise(VAF(keras.activations.tanh), x, parameters)
    assert len(run) <= 12
