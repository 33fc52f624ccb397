"""The paper's properties p1 to p4, as `docs/records/differences.md` claims them."""

import numpy as np
import pytest

from keras_vaf import layers
from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.models import to_vaf
from tests.layers.family import ACTIVATIONS, built

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

X = np.linspace(-2, 2, 401)


def target(x):
    return np.sin(3 * x) + np.abs(x)


def linear_fit(layer, weights, place, rcond=1e-6):
    """Solve for the weights at one place, in which f is linear; `None` marks it."""
    size = layer.get_weights()[place].size
    columns = []
    for unit in (*np.eye(size), np.zeros(size)):
        layer.set_weights([unit if weight is None else weight for weight in weights])
        columns.append(layer.function(X))
    constant = columns.pop()
    design = np.stack(columns, axis=-1) - constant[:, None]
    best = np.linalg.lstsq(design, target(X) - constant, rcond=rcond)[0]
    layer.set_weights([best if weight is None else weight for weight in weights])


def vaf(size):
    knots = np.linspace(-2, 2, size)[:-1]
    slopes = np.diff(target(np.linspace(-2, 2, size))) * (size - 1) / 4
    start = PiecewiseLinearStart(knots, [0, *slopes], value=target(-2.0))
    return layers.VAFActivation(k=size, initialization=start)


def apl(size):
    layer = layers.APL(S=size, sharing="layer")
    linear_fit(layer, [None, np.linspace(-1.9, 2.5, size)], place=0)
    return layer


def kaf(size):
    layer = layers.KAF(D=size, sharing="layer")
    linear_fit(layer, [None], place=0)
    return layer


def spline(size):
    layer = layers.SplineActivation(q=size, sharing="layer")
    layer.set_weights([target(np.linspace(-2, 2, size))])
    return layer


@pytest.mark.parametrize("make", [vaf, apl, kaf, spline])
def test_p1_a_larger_one_comes_nearer_to_any_continuous_function(make):
    errors = [np.abs(make(size).function(X) - target(X)).max() for size in (5, 40)]
    assert errors[1] < 0.1
    assert errors[1] < errors[0] / 4


AIDED = ["ActivationEnsemble", "KAF", "MixedActivation", "PELU"]


def is_unaided(layer):
    """Return whether only the optimizer changes the weights."""
    layer = built(layer, (None, 3), sharing="channel")
    free = all(weight.constraint is None for weight in layer.weights)
    return free and not layer.non_trainable_weights


def test_p3_nothing_but_the_optimizer_changes_the_weights():
    """KAF with a trained gamma and MixedActivation without gates have constraints."""
    aided = [type(layer).__name__ for layer in ACTIVATIONS if not is_unaided(layer)]
    assert sorted(aided) == AIDED


@pytest.mark.parametrize(
    "layer",
    [layers.APL(), layers.KAF(), layers.AdaptiveSigmoid(), layers.AdaptiveTanh()],
    ids=lambda layer: layer.name,
)
def test_p4_each_weight_is_one_of_a_vaf(layer):
    layer = built(layer, (None, 1), sharing="layer")
    of_vaf = np.concatenate([weight.ravel() for weight in to_vaf(layer).get_weights()])
    for weight in layer.get_weights():
        assert np.isin(weight, of_vaf).all()


@pytest.mark.parametrize(
    "layer",
    [layers.ABU(), layers.PolynomialActivation(), layers.SplineActivation()],
    ids=lambda layer: layer.name,
)
def test_p4_each_weight_is_an_output_weight_of_fixed_functions(layer):
    """f is a sum of the weights, each times a function that none of them changes."""
    layer = built(layer, (None, 1), sharing="layer")
    (weight,) = layer.get_weights()
    whole, parts = layer.function(X), 0
    for unit in np.eye(weight.size):
        layer.set_weights([unit * weight])
        parts = parts + layer.function(X)
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-5)
