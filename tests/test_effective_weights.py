"""Everything that reports a learned function reports the one that the layer computes.

Each layer here stores weights that its constraints would change. What a part of the
package says about the layer is compared with the values of `layer.function`.
"""

import ast
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

import keras_vaf
from keras_vaf import constraints, layers, models, regularizers
from keras_vaf.callbacks.observation import observe
from keras_vaf.constraints import FunctionConstraint, SlopeBound
from keras_vaf.models.analysis.nearest import inspect_activations
from keras_vaf.visualization import plot_activation
from tests.layers.family import ACTIVATIONS, fresh

pytestmark = pytest.mark.backend("torch")

ROOT = Path(keras_vaf.__file__).parent
X = np.linspace(-4, 4, 801)


@keras.saving.register_keras_serializable(package="tests")
class Clamp(FunctionConstraint):
    """Keep every weight of any layer between -0.6 and 0.6."""

    layers = ("TrainableActivation",)

    def __init__(self, *changes):
        self.changes = tuple(changes)

    def project(self, layer, weights):
        return {name: ops.clip(weights[name], -0.6, 0.6) for name in self.changes}

    def get_config(self):
        return {"changes": self.changes}

    @classmethod
    def from_config(cls, config):
        return cls(*config["changes"])


CONSTRAINTS = {
    "slope of the function": {"function_constraint": SlopeBound(1.0)},
    "slope of each unit": {"function_constraint": SlopeBound(1.0, scaling="unit")},
    "clamp": {"function_constraint": Clamp("alpha", "beta", "beta_bias")},
    "monotone": {"beta_constraint": constraints.Monotone()},
    "interval": {"alpha_constraint": constraints.Interval(-0.1, 0.1)},
    "simplex": {"beta_constraint": constraints.Simplex()},
    "not negative": {"alpha_bias_constraint": keras.constraints.NonNeg()},
}


@pytest.fixture(params=CONSTRAINTS)
def layer(request):
    """A VAF of two functions with steep stored weights."""
    return steep(**CONSTRAINTS[request.param])


@pytest.fixture(params=CONSTRAINTS)
def shared(request):
    """A VAF of one function with steep stored weights."""
    return steep(sharing="layer", **CONSTRAINTS[request.param])


def steep(sharing="channel", **arguments):
    layer = layers.VAFActivation(k=3, sharing=sharing, name="vaf", **arguments)
    layer.build((None, 2))
    shape = layer.beta_bias.shape
    generator = np.random.default_rng(0)
    signs = np.array([1, -1, 1])
    layer.set_weights(
        [
            signs * generator.uniform(1, 2, (*shape, 3)),
            generator.normal(size=(*shape, 3)),
            signs[::-1] * generator.uniform(1, 3, (*shape, 3)),
            np.full(shape, 0.7),
        ]
    )
    return layer


def model_of(layer):
    return keras.Sequential([keras.Input((2,)), layer])


def assert_equal(found, layer, x=X, atol=1e-5):
    np.testing.assert_allclose(found, layer.function(x), rtol=1e-5, atol=atol)


def slopes(layer):
    """Return the slope of each line of f between neighbours of X, by f's values."""
    return np.diff(layer.function(X), axis=0) / np.diff(X)[0]


@pytest.mark.parametrize("name", [*CONSTRAINTS][:3])
def test_the_stored_weights_are_other_ones(name):
    layer, free = steep(**CONSTRAINTS[name]), steep()
    assert np.abs(layer.function(X) - free.function(X)).max() > 1


def test_call(layer):
    x = np.stack([X, X], axis=1).astype("float32")
    values = ops.convert_to_numpy(layer(x))
    assert_equal(values, layer)


def test_lipschitz_bound(layer):
    steepest = np.abs(slopes(layer)).max(axis=0)
    np.testing.assert_allclose(regularizers.lipschitz_bound(layer), steepest, rtol=1e-4)


def test_slope_variation(layer):
    penalty = ops.convert_to_numpy(regularizers.SlopeVariation(1.0)(layer))
    changes = np.abs(np.diff(slopes(layer), axis=0)).sum()
    np.testing.assert_allclose(penalty, changes, rtol=1e-3)


def test_damping():
    layer = layers.SplineActivation(q=5, function_constraint=Clamp("points"))
    layer.build((None, 2))
    layer.set_weights([3 + value for value in layer.get_weights()])
    (start,) = layer.start((2,))
    expected = np.sum((0.6 - start) ** 2)
    penalty = ops.convert_to_numpy(regularizers.Damping(1.0)(layer))
    np.testing.assert_allclose(penalty, expected, rtol=1e-5)


def test_plot_of_the_function_and_its_knots(shared):
    lines = {line.get_label(): line for line in plot_activation(shared).get_lines()}
    assert_equal(lines["f"].get_ydata(), shared, lines["f"].get_xdata())
    knots = lines["knots of f"].get_xdata()
    bends = X[1:-1][np.abs(np.diff(slopes(shared))) > 1e-3]
    assert bends.size
    assert np.abs(np.subtract.outer(bends, knots)).min(axis=1).max() < 0.011


def test_record_of_the_monitor(layer):
    inputs = np.stack([X, X], axis=1)
    assert_equal(observe(layer, inputs, 0, X).curves, layer)


def test_frozen_and_grown_and_saved_models(layer, tmp_path):
    model = model_of(layer)
    x = np.stack([X, X], axis=1).astype("float32")
    expected = ops.convert_to_numpy(model(x))
    path = tmp_path / "model.keras"
    model.save(path)
    again = keras.saving.load_model(path)
    for found in (models.freeze(model), again):
        np.testing.assert_allclose(
            ops.convert_to_numpy(found(x)), expected, rtol=1e-5, atol=1e-5
        )


def test_simplified(layer):
    simple = models.simplify(model_of(layer), tolerance=1e-4)
    found = simple.layers[-1].function(X)
    assert np.abs(found - layer.function(X)).max() <= 2e-4
    loose = models.simplify(model_of(layer), tolerance=1.0)
    for replaced in models.report(loose).replaced:
        x = np.linspace(-5, 5, 501)
        error = np.abs(loose.layers[-1].function(x) - layer.function(x)).max()
        assert error <= 1.0
        assert replaced.error == pytest.approx(error, rel=1e-3)


def test_nearest_function():
    layer = layers.VAFActivation(k=2, function_constraint=SlopeBound(0.5))
    layer.set_weights([*np.array([[1, -1], [0, 0], [4, 0]]), np.array(0)])
    for found in (models.nearest(layer), inspect_activations(model_of(layer))[0][-1]):
        assert found.name == "relu" and found.scale == pytest.approx(0.5, rel=1e-5)


REASONS = {member.layer: member.not_a_vaf for member in layers.ACTIVATIONS}
WRITTEN = [each for each in ACTIVATIONS if not REASONS[type(each)]]


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("member", WRITTEN, ids=lambda member: member.name)
def test_every_member_is_equal_to_its_vaf_for_random_weights(member, seed, constrained):
    names = [name for name in member.weight_names if name not in ("gamma",)]
    positive = isinstance(member, layers.PELU)  # the slopes are quotients of weights
    clamp = Clamp(*names) if constrained and not positive else None
    layer = fresh(member, sharing="channel", function_constraint=clamp)
    layer.build((None, 2))
    generator = np.random.default_rng(seed)
    values = [generator.normal(0, 1, w.shape) for w in layer.get_weights()]
    if positive or "gamma" in layer.weight_names:
        values[1:] = [np.abs(value) + 0.2 for value in values[1:]]
    layer.set_weights(values)
    before = layer.get_weights()
    assert_equal(models.to_vaf(layer).function(X), layer, atol=3e-5)
    for old, new in zip(before, layer.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("name", ["beta", "beta_bias", "alpha_bias", "weight_names"])
def test_stored_weights_are_read_by_layers_and_constraints_alone(name):
    readers = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr == name
        and ast.unparse(node.value) not in ("self", "units", "parts", "start")
    }
    assert readers <= {"layers", "constraints"}
