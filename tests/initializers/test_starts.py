"""Starts are exact where they say so, f equals g at the start at g, units can learn."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import initializers
from keras_vaf.initializers import FunctionStart, GStart, PiecewiseLinearStart, Start
from keras_vaf.layers import VAFActivation
from keras_vaf.ops import NAMES
from keras_vaf.ops.functions import get_function
from tests import reference
from tests.harness import double_precision, to_arrays, vjp

X = np.linspace(-6, 6, 97).astype("float32")[:, None]
EPSILON = np.finfo("float32").eps

EXACT_PAIRS = [
    *[(name, "relu", 2) for name in ("leaky_relu", "linear", "hard_tanh", "relu6")],
    *[(name, "relu", 2) for name in ("hard_sigmoid", "sparse_sigmoid")],
    ("soft_shrink", "relu", 2),
    ("sigmoid", "tanh", 1),
    ("tanh", "sigmoid", 1),
    ("log_sigmoid", "softplus", 1),
    ("softplus", "log_sigmoid", 1),
    ("sin", "cos", 1),
    ("square", "relu_squared", 2),
    ("cos", "sin", 1),
    ("elu", "celu", 1),
    ("celu", "elu", 1),
    ("sparse_sigmoid", "relu6", 1),
    ("hard_tanh", "sparse_sigmoid", 1),
    ("hard_sigmoid", "hard_tanh", 1),
    ("relu6", "hard_sigmoid", 1),
]
LINES = [
    ("leaky_relu of slope 0.3", PiecewiseLinearStart([0], [0.3, 1]), 2),
    ("absolute value", PiecewiseLinearStart([0], [-1, 1]), 2),
    ("constant left of a knot", PiecewiseLinearStart([2], [0, 3], 1), 1),
    ("three knots", PiecewiseLinearStart([-1, 0.5, 2], [-0.5, 2, 0, 1], 0.3), 3),
    ("no level line", PiecewiseLinearStart([-1, 0.5, 2], [-0.5, 2, 1, 3], 0.3), 4),
]


def output(x, **arguments):
    """Return the output of a new layer for x."""
    return ops.convert_to_numpy(VAFActivation(**arguments)(x))


@pytest.mark.parametrize(("f", "g", "carriers"), EXACT_PAIRS)
def test_exact_pairs(f, g, carriers):
    expected = reference.FUNCTIONS[f][0](X.astype("float64"))
    for k in (carriers, carriers + 1, 7):
        error = np.abs(output(X, k=k, g=g, initialization=f) - expected)
        assert np.all(error <= 4 * EPSILON * (1 + np.abs(X)))
    assert max(FunctionStart(f).error(k=7, g=g)) < 1e-5


@pytest.mark.parametrize(("name", "start", "carriers"), LINES)
def test_lines_on_relu_are_exact(name, start, carriers):
    expected = np.interp(X, start.knots, start.target(np.array(start.knots)))
    left, right = X - start.knots[0], X - start.knots[-1]
    expected = expected + np.where(left < 0, start.slopes[0] * left, 0)
    expected = expected + np.where(right > 0, start.slopes[-1] * right, 0)
    for k in (carriers, 7):
        error = np.abs(output(X, k=k, initialization=start) - expected)
        assert np.all(error <= 8 * EPSILON * (1 + np.abs(X)))
    with pytest.raises(
        ValueError, match=rf"k >= {carriers}\. Received: k={carriers - 1}"
    ):
        start.units(carriers - 1, keras.activations.relu)


@pytest.mark.parametrize("g", ["relu", "tanh", "sigmoid", "gelu", "hard_tanh", "elu"])
@pytest.mark.parametrize(
    "f", ["g", "relu", "tanh", "leaky_relu", "linear", "silu", "random"]
)
def test_every_unit_learns_from_the_first_step(f, g):
    k = 7
    x = np.random.default_rng(0).uniform(-8, 8, (512, 1)).astype("float32")
    wanted = np.random.default_rng(1).normal(size=(512, 1)).astype("float32")
    layer = VAFActivation(k=k, g=g, initialization=f)
    error = output(x, k=k, g=g, initialization=f) - wanted
    values = [weight.value for weight in layer.weights]

    def loss(alpha, alpha_bias, beta, beta_bias):
        hidden = layer.g(ops.multiply(x, alpha) + alpha_bias)
        return ops.sum(hidden * beta, axis=-1, keepdims=True) + beta_bias

    _, gradients = vjp(loss, values, ops.convert_to_tensor(error))
    units = np.stack(to_arrays(gradients[:3]), axis=-1)
    assert np.all(np.abs(units).max(axis=-1) > 0)
    distances = np.abs(units[:, None] - units[None]).max(axis=-1)
    assert np.all(distances[~np.eye(k, dtype=bool)] > 0)


def test_a_start_of_your_own():
    class Fixed(Start):
        def __call__(self, unshared, k, g):
            shape = (*unshared, k)
            ones = np.ones(shape)
            return ones, 0 * ones, 2 * ones, np.zeros(unshared)

    np.testing.assert_allclose(
        output(X, k=3, initialization=Fixed()), 6 * np.maximum(X, 0)
    )


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("softmax", r"acts on each element alone.*Received: initialization='softmax'"),
        ("randon", r"one of g, random, .* Did you mean 'random'\?"),
        ("glorot_uniform", r"RandomStart\(\)\. An initializer of Keras"),
        (GStart, r"a start, such as .*Received: initialization=<class"),
    ],
)
def test_unknown_starts(identifier, message):
    with pytest.raises(ValueError, match=message):
        initializers.get(identifier)


# The places of each value in the input and in f are the same: some backends round the
# same value differently at different places.
WIDE = np.linspace(-100, 100, 804).astype("float32").reshape(-1, 2, 3)


@keras.saving.register_keras_serializable(package="tests")
def bump(x):
    return x * ops.exp(-ops.square(x))


OWN = (
    *(lambda x: ops.log(x), lambda x: ops.sqrt(x), lambda x: ops.sinh(x)),
    *(bump, lambda x: x + 1),
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("g", [*NAMES, *OWN])
def test_f_is_g_for_every_k(g, dtype):
    with double_precision():
        x = ops.convert_to_tensor(WIDE.astype(dtype))
        expected = ops.convert_to_numpy(get_function(g, "g")(x))
        finite = np.isfinite(expected)
        for k in (1, 2, 3, 16):
            found = output(x, k=k, g=g, dtype=dtype)
            np.testing.assert_array_equal(found[finite], expected[finite])
        assert GStart().error(3, bump) == (0, 0, 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("g", NAMES)
def test_half_precision_is_rounded_once(g, dtype):
    x = ops.cast(ops.convert_to_tensor(WIDE), dtype)
    exact = get_function(g, "g")(ops.cast(x, "float32"))
    found, expected = (
        ops.convert_to_numpy(ops.cast(y, "float32"))
        for y in (VAFActivation(g=g, dtype=dtype)(x), ops.cast(exact, dtype))
    )
    finite = np.isfinite(ops.convert_to_numpy(exact))
    np.testing.assert_array_equal(found[finite], expected[finite])
