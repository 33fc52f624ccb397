"""The slope of a VAF stays within a hard limit."""

import itertools
import math
from fractions import Fraction

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.constraints import Monotone, SlopeBound
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.ops.slope_bound import slope_bound
from keras_vaf.regularizers import lipschitz_bound
from tests.harness import (
    check_serialization,
    double_precision,
    to_arrays,
    to_tensors,
    vjp,
)
from tests.layers.family import sample

KNOTS = {"relu": (0,), "leaky_relu": (0,), "hard_tanh": (-1, 1), "relu6": (0, 6)}
SLOPES = {
    "relu": lambda h: h > 0,
    "leaky_relu": lambda h: np.where(h > 0, 1.0, 0.2),
    "hard_tanh": lambda h: np.abs(h) < 1,
    "relu6": lambda h: (h > 0) & (h < 6),
}
VALUES = {
    "relu": lambda h: np.maximum(h, 0),
    "leaky_relu": lambda h: np.where(h > 0, h, 0.2 * h),
    "hard_tanh": lambda h: np.clip(h, -1, 1),
    "relu6": lambda h: np.clip(h, 0, 6),
    "tanh": np.tanh,
    "sin": np.sin,
    "silu": lambda h: h / (1 + np.exp(-h)),
    "gelu": lambda h: h * (1 + np.vectorize(math.erf)(h / 2**0.5)) / 2,
}
SMOOTH = ("tanh", "gelu", "silu", "sin")


def steepest(g, alpha, alpha_bias, beta):
    """Return the largest slope of a line of f, looked up between all knots."""
    alpha, alpha_bias, beta = (
        np.asarray(w, "float64") for w in (alpha, alpha_bias, beta)
    )
    used = alpha != 0
    knots = [(knot - alpha_bias[used]) / alpha[used] for knot in KNOTS[g]]
    knots = np.sort(np.concatenate([*knots, [0.0]]))
    places = np.concatenate(
        [[knots[0] - 1], (knots[1:] + knots[:-1]) / 2, [knots[-1] + 1]]
    )
    hidden = alpha * places[:, None] + alpha_bias
    return np.abs(np.sum(alpha * beta * SLOPES[g](hidden), axis=-1)).max()


def value(layer, x):
    """Return f(x) in float64, by NumPy."""
    weights = map(ops.convert_to_tensor, layer.effective_weights())
    arrays = [np.asarray(array, "float64") for array in to_arrays(weights)]
    alpha, alpha_bias, beta, beta_bias = arrays
    g = VALUES[
        keras.activations.serialize(layer.g) if layer.g is not ops.sin else "sin"
    ]
    x = x.reshape(-1, *[1] * alpha.ndim)
    return np.sum(beta * g(alpha * x + alpha_bias), axis=-1) + beta_bias


def pairs_slope(layer, count=10_000):
    """Return the largest slope of a layer's function over random pairs."""
    generator = np.random.default_rng(5)
    x = 3 * generator.normal(size=count)
    distance = 10.0 ** generator.uniform(-6, 1, size=count)
    rise = value(layer, x + distance) - value(layer, x)
    # The first term is what float64 may add to a difference of two values.
    rise = np.maximum(np.abs(rise) - 1e-13, 0)
    return np.max(rise / distance.reshape(-1, *[1] * (rise.ndim - 1)))


def model_of(layer, optimizer):
    """Return a model that is pulled towards a slope of 30, with its data."""
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(optimizer, "mse")
    x = sample((64, 3))
    return model, x, 30 * np.sin(x)


def check_steps(layer, step):
    """Take steps, and check the slopes of the function and of the stored weights."""
    for _ in range(3):
        step()
        assert pairs_slope(layer) <= 1.0
        assert lipschitz_bound(layer) <= 1.0


@pytest.mark.parametrize("g", KNOTS)
def test_the_steepest_line_is_found(g):
    generator = np.random.default_rng(0)
    weights = [generator.normal(size=(200, 4)).astype("float32") for _ in range(3)]
    bound = slope_bound(
        getattr(keras.activations, g), *map(ops.convert_to_tensor, weights)
    )
    expected = [steepest(g, *functions) for functions in zip(*weights, strict=True)]
    np.testing.assert_allclose(ops.convert_to_numpy(bound.value), expected, rtol=1e-5)
    assert np.all(ops.convert_to_numpy(bound.value + bound.error) >= expected)


def exactly_steepest(alpha, alpha_bias, beta):
    """Return the largest slope of a line of a VAF with g = relu, without rounding."""
    rows = np.array([alpha, alpha_bias, beta], "float64").T
    units = [[Fraction(weight) for weight in row] for row in rows]
    knots = sorted(-bias / a for a, bias, _ in units)
    between = [(p + q) / 2 for p, q in itertools.pairwise(knots) if p != q]
    places = (knots[0] - 1, *between, knots[-1] + 1)
    slopes = (sum(a * b for a, c, b in units if a * x + c > 0) for x in places)
    return max(map(abs, slopes))


def test_knots_that_rounding_cannot_order_count_in_every_order():
    generator = np.random.default_rng(0)
    alpha = generator.uniform(0.5, 3, (200, 3)).astype("float32")
    place = generator.uniform(-2, 2, (200, 1)).astype("float32")
    alpha_bias = -alpha * place  # rounded, so that the knots are nearly equal
    beta = (generator.choice([-9, 9], (200, 3)) / alpha).astype("float32")
    weights = map(ops.convert_to_tensor, (alpha, alpha_bias, beta))
    value, error = to_arrays(slope_bound(keras.activations.relu, *weights))
    reached = value.astype("float64") + error
    for row, unit in enumerate(zip(alpha, alpha_bias, beta, strict=True)):
        assert reached[row] >= exactly_steepest(*unit)


@pytest.mark.parametrize(
    "alpha, alpha_bias",
    [((1.5, 1.5), (0.7, 0.7)), ((1.0, 3.0), (0.0, 0.0)), ((-0.3, -7.0), (0.0, 0.0))],
)
def test_opposite_units_with_the_same_knot_cancel(alpha, alpha_bias):
    alpha = np.array(alpha, "float32")
    beta = np.array([4, -4], "float32") / alpha
    weights = map(ops.convert_to_tensor, (alpha, np.float32(alpha_bias), beta))
    assert float(slope_bound(keras.activations.relu, *weights).value) < 1e-5


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize("g", [*KNOTS, *SMOOTH])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
@pytest.mark.parametrize("scaling", ["function", "unit"])
def test_never_steeper_after_any_step(g, sharing, scaling):
    layer = VAFActivation(
        k=4,
        g=g,
        sharing=sharing,
        initialization=RandomStart(seed=0),
        function_constraint=SlopeBound(1.5, scaling),
    )
    model, x, y = model_of(layer, keras.optimizers.SGD(0.5, clipvalue=1.0))
    for _ in range(10):
        model.train_on_batch(x, y)
        alpha, alpha_bias, beta, _ = layer.get_weights()
        assert np.all(lipschitz_bound(layer) <= 1.5)
        assert pairs_slope(layer) <= 1.5
        if g in KNOTS:
            functions = zip(
                *(np.atleast_2d(w) for w in (alpha, alpha_bias, beta)), strict=True
            )
            assert max(steepest(g, *function) for function in functions) <= 1.5
    assert pairs_slope(layer) > 0.3  # the limit is used


@pytest.mark.parametrize("g", ["relu", "relu6", "gelu"])
@pytest.mark.parametrize("scaling", ["function", "unit"])
def test_a_second_projection_changes_nothing(g, scaling):
    layer = VAFActivation(
        k=8,
        g=g,
        sharing="channel",
        initialization=RandomStart(seed=0),
        function_constraint=SlopeBound(0.7, scaling),
    )
    layer.build((None, 2000))
    layer.set_weights([9 * weight for weight in layer.get_weights()])
    layer.apply_constraints()
    before = layer.get_weights()[2]
    layer.apply_constraints()
    np.testing.assert_array_equal(layer.get_weights()[2], before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_limit_is_reached_but_not_exceeded_in_each_precision(dtype):
    with double_precision():
        layer = VAFActivation(
            k=5,
            sharing="channel",
            initialization=RandomStart(seed=0),
            function_constraint=SlopeBound(0.01),
            dtype=dtype,
        )
        layer.build((None, 500))
        weights = layer.get_weights()
    assert weights[0].dtype == dtype
    slopes = [steepest("relu", *each) for each in zip(*weights[:3], strict=True)]
    assert 0.00999 < max(slopes) <= 0.01


def test_the_constraint_on_beta_holds_too():
    layer = VAFActivation(
        k=4,
        initialization="relu",
        beta_constraint=Monotone(),
        function_constraint=SlopeBound(1.0),
    )
    model, x, _ = model_of(layer, keras.optimizers.SGD(0.5, clipvalue=1.0))

    def step():
        model.train_on_batch(x, -30 * x)
        alpha, _, beta, _ = layer.get_weights()
        assert np.all(alpha * beta >= 0)

    check_steps(layer, step)


def bounded(weights, **arguments):
    """Return the stored weights of a VAF with given weights and a slope within 1."""
    constraint = SlopeBound(1.0, **arguments)
    layer = VAFActivation(k=len(weights[0]), function_constraint=constraint)
    layer.set_weights([np.array(each, "float32") for each in weights])
    layer.apply_constraints()
    return layer


@pytest.mark.parametrize("scaling, left", [("function", -0.25), ("unit", -0.5)])
def test_a_line_within_the_limit_keeps_its_slope(scaling, left):
    # f(x) = 2 max(x, 0) + 0.5 max(-x, 0): one unit is too steep, the other is not.
    layer = bounded([[1, -1], [0, 0], [2, 0.5], 0], scaling=scaling)
    falls, rises = np.diff(layer.function(np.array([-2.0, -1.0, 1.0, 2.0])))[[0, 2]]
    np.testing.assert_allclose([falls, rises], [left, 1], rtol=1e-5)


def test_each_unit_is_rescaled_by_the_steepest_line_on_which_it_acts():
    # Lines from left to right: slope -3 (third unit), 0, 2 (first), 5 (first, second).
    layer = bounded(
        [[1, 1, -1], [0, -1, -1], [2, 3, 3], 0], scaling="unit"
    )  # knots 0, 1, -1
    alpha, _, beta, _ = layer.get_weights()
    np.testing.assert_allclose(alpha * beta, [2 / 5, 3 / 5, -1], rtol=1e-5)
    before = layer.get_weights()[2]
    layer.apply_constraints()
    np.testing.assert_array_equal(layer.get_weights()[2], before)


@pytest.mark.parametrize("scaling", ["function", "unit"])
def test_gradients_take_the_scale_as_a_constant(scaling):
    layer = VAFActivation(k=2)
    fixed = to_tensors([np.array([1, -1], "float32"), np.zeros(2, "float32")])
    beta, upstream = to_tensors(
        [np.array(each, "float32") for each in ([4, 2], [1, 3])]
    )

    def projected(beta):
        weights = dict(zip(("alpha", "alpha_bias"), fixed, strict=True))
        return SlopeBound(1.0, scaling).project(layer, {**weights, "beta": beta})[
            "beta"
        ]

    value, (gradient,) = vjp(projected, [beta], upstream)
    value, gradient = to_arrays([value, gradient])
    scale = value / [4, 2]
    assert np.all(scale < 1)
    np.testing.assert_allclose(gradient, scale * [1, 3], rtol=1e-6)


@pytest.mark.parametrize("scaling", ["function", "unit"])
@pytest.mark.parametrize("g", ["relu", "tanh", "sin"])
def test_a_start_within_the_limit_is_left_alone(g, scaling):
    layer = VAFActivation(g=g, function_constraint=SlopeBound(1.0, scaling))
    free = VAFActivation(g=g)
    for weight, expected in zip(layer.get_weights(), free.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)
    x = sample((50, 3))
    np.testing.assert_array_equal(*to_arrays([layer(x), free(x)]))


def test_a_steep_start_is_rescaled_at_once():
    layer = VAFActivation(g="gelu", function_constraint=SlopeBound(1.0))
    assert 0.9999 < lipschitz_bound(layer) <= 1.0
    assert pairs_slope(VAFActivation(g="gelu")) > 1.1


def test_the_function_is_bounded_with_a_frozen_beta():
    layer = VAFActivation(g="relu", function_constraint=SlopeBound(1.0))
    layer.beta.trainable = False
    model, x, y = model_of(layer, keras.optimizers.SGD(0.5, clipvalue=1.0))
    model.fit(x, y, epochs=5, verbose=0)
    assert layer.get_weights()[0].max() > 1.1
    assert pairs_slope(layer) <= 1.0
    slope = np.diff(
        ops.convert_to_numpy(model(np.array([[5.0] * 3, [9.0] * 3], "float32"))), axis=0
    )
    assert np.all(np.abs(slope) <= 4 * (1 + 1e-6))


def test_the_function_is_bounded_with_averaged_weights():
    layer = VAFActivation(g="relu", function_constraint=SlopeBound(1.0))
    optimizer = keras.optimizers.SGD(0.5, clipvalue=1.0, use_ema=True, ema_momentum=0.5)
    model, x, y = model_of(layer, optimizer)
    model.fit(x, y, epochs=3, verbose=0)
    assert pairs_slope(layer) <= 1.0
    before = layer.function(x)
    layer.apply_constraints()
    assert lipschitz_bound(layer) <= 1.0
    np.testing.assert_allclose(layer.function(x), before, rtol=1e-6, atol=1e-6)


def test_given_weights_are_rescaled_in_the_function_and_then_stored():
    layer = VAFActivation(g="relu", function_constraint=SlopeBound(2.0))
    layer.set_weights([5 * weight for weight in layer.get_weights()])
    assert pairs_slope(layer) <= 2.0
    layer.apply_constraints()
    beta = layer.get_weights()[2]
    assert lipschitz_bound(layer) <= 2.0
    layer.apply_constraints()
    np.testing.assert_array_equal(layer.get_weights()[2], beta)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("plain", [False, True])
def test_the_function_is_bounded_after_steps_of_a_gradient_tape(plain):
    import tensorflow as tf

    layer = VAFActivation(g="relu", function_constraint=SlopeBound(1.0))
    optimizer = keras.optimizers.SGD(0.1)
    x = tf.constant(sample((64, 3)))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(x) - 30 * x) ** 2)
        weights = layer.trainable_variables
        gradients = tape.gradient(loss, [weight.value for weight in weights])
        if not plain:
            optimizer.apply(gradients, weights)
            return
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(0.1 * gradient)
        assert pairs_slope(layer) <= 1.0
        layer.apply_constraints()

    check_steps(layer, step)


@pytest.mark.backend("jax")
def test_the_function_is_bounded_after_stateless_steps_of_jax():
    import jax

    layer = VAFActivation(g="relu", function_constraint=SlopeBound(1.0))
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(layer.trainable_variables)
    x = sample((64, 3))
    weights = [weight.value for weight in layer.trainable_variables]
    state = [variable.value for variable in optimizer.variables]

    def loss(weights):
        y, _ = layer.stateless_call(weights, [], x)
        return ops.mean((y - 30 * x) ** 2)

    def step():
        nonlocal weights, state
        gradients = jax.grad(loss)(weights)
        weights, state = optimizer.stateless_apply(state, gradients, weights)
        layer.set_weights(weights)

    check_steps(layer, step)


@pytest.mark.parametrize("g", ["relu", "gelu"])
def test_the_function_is_bounded_in_mixed_precision(g):
    layer = VAFActivation(
        g=g, function_constraint=SlopeBound(1.0), dtype="mixed_bfloat16"
    )
    model, x, y = model_of(layer, keras.optimizers.SGD(0.5, clipvalue=1.0))
    check_steps(layer, lambda: model.train_on_batch(x, y))


@pytest.mark.backend("torch")
def test_a_step_of_torch_is_followed_by_apply_constraints():
    import torch

    layer = VAFActivation(g="relu", function_constraint=SlopeBound(1.0))
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    x = torch.as_tensor(sample((64, 3)))

    def step():
        optimizer.zero_grad()
        torch.mean((layer(x) - 30 * x) ** 2).backward()
        optimizer.step()
        assert pairs_slope(layer) <= 1.0
        layer.apply_constraints()

    check_steps(layer, step)


def test_is_saved_with_the_layer(tmp_path):
    check_serialization(SlopeBound(2.0))
    check_serialization(SlopeBound(2.0, "unit"))
    assert SlopeBound.from_config({"limit": 2.0}).scaling == "function"
    layer = VAFActivation(g="gelu", function_constraint=SlopeBound(0.5))
    model, x, y = model_of(layer, keras.optimizers.SGD(0.5, clipvalue=1.0))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    loaded.train_on_batch(x, y)
    assert pairs_slope(loaded.layers[0]) <= 0.5


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SlopeBound(0), "must be a finite number above 0"),
        (lambda: SlopeBound(1.0, "line"), "`scaling` must be"),
        (lambda: KAF(function_constraint=SlopeBound()), "of a VAFActivation"),
        (lambda: VAFActivation(function_constraint="l2"), "`SlopeBound\\(1.0\\)`"),
        (lambda: VAFActivation(beta_constraint=SlopeBound()), "(?i)constraint"),
        (
            lambda: VAFActivation(g="exponential", function_constraint=SlopeBound()),
            "slope of g has no bound",
        ),
        (
            lambda: VAFActivation(
                g="hard_shrink", sharing="channel", function_constraint=SlopeBound()
            ),
            "slope of g has no bound",
        ),
    ],
)
def test_is_refused_where_it_promises_nothing(make, message):
    with pytest.raises(ValueError, match=message):
        make()
