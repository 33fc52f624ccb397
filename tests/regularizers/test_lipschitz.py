"""The bound on how steep a VAF is."""

import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.regularizers import lipschitz_bound

GRID = np.linspace(-12, 12, 2401)


def steepest(layer, x=GRID):
    """Largest slope between neighbours on a fine grid, by absolute value."""
    values = layer.function(x)
    return np.abs(np.diff(values, axis=0) / np.diff(x)[:, None]).max(axis=0)


def steepest_line(layer):
    """Largest slope, from two values of f within each of its lines."""
    alpha, alpha_bias = (w.astype("float64") for w in layer.get_weights()[:2])
    kinks = {"hard_sigmoid": (-3, 3), "soft_shrink": (-0.5, 0.5)}
    kinks = kinks.get(layer.g.__name__, (0,))
    largest = []
    for i in range(len(alpha)):
        knots = np.sort(np.ravel([(t - alpha_bias[i]) / alpha[i] for t in kinks]))
        ends = np.r_[knots[0] - 3, knots, knots[-1] + 3]
        x = ends[:-1, None] + np.diff(ends)[:, None] * [0.3, 0.7]
        values = layer.function(x)[..., i]
        largest.append(np.abs(np.diff(values) / np.diff(x)).max())
    return largest


@pytest.mark.parametrize("g", ["relu", "leaky_relu", "tanh", "gelu", "sigmoid"])
def test_no_function_is_steeper_than_its_bound(g):
    layer = VAFActivation(
        k=4, g=g, sharing="channel", initialization=RandomStart(seed=3)
    )
    layer.build((None, 5))
    bound = lipschitz_bound(layer)
    assert bound.shape == (5,)
    assert (steepest(layer) <= bound + 1e-4).all()


@pytest.mark.parametrize("g", ["relu", "leaky_relu", "hard_sigmoid", "soft_shrink"])
def test_is_the_steepest_line_where_g_is_made_of_lines(g):
    layer = VAFActivation(
        k=4, g=g, sharing="channel", initialization=RandomStart(seed=5)
    )
    layer.build((None, 6))
    generator = np.random.default_rng(0)
    layer.set_weights([generator.normal(size=w.shape) for w in layer.get_weights()])
    np.testing.assert_allclose(lipschitz_bound(layer), steepest_line(layer), rtol=1e-3)


def test_equal_knots_and_units_without_one():
    layer = VAFActivation(k=4)
    weights = [[1, -1, 1, 0], [-1, 1, -1, 2], [1, 2, 3, 100]]
    layer.set_weights([*np.float32(weights), np.float32(0)])
    assert float(lipschitz_bound(layer)) == 4


@pytest.mark.parametrize("start", ["relu", "leaky_relu", "linear", "hard_tanh"])
def test_bounds_of_known_functions(start):
    layer = VAFActivation(k=3, initialization=start)
    assert float(lipschitz_bound(layer)) == pytest.approx(1.0)


def test_is_reached_where_all_units_rise_together():
    layer = VAFActivation(k=3, g="tanh")
    layer.set_weights(
        [
            np.float32([1, 2, 0.5]),
            np.zeros(3, "float32"),
            np.ones(3, "float32"),
            np.float32(0),
        ]
    )
    assert float(lipschitz_bound(layer)) == pytest.approx(3.5)
    assert np.diff(layer.function([-1e-4, 1e-4])) / 2e-4 == pytest.approx(3.5, rel=1e-4)


@pytest.mark.parametrize("g", ["exponential", "hard_shrink", "relu_squared", "square"])
def test_some_functions_have_no_bound(g):
    with pytest.raises(ValueError, match="slope of g has no bound"):
        lipschitz_bound(VAFActivation(g=g))


@pytest.mark.parametrize("layer", [KAF(), VAFActivation(sharing="channel"), "relu"])
def test_bad_layer(layer):
    with pytest.raises(ValueError, match="VAFActivation that has its weights"):
        lipschitz_bound(layer)
