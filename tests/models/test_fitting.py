"""`convert` with data: functions that are fitted to the inputs of their layers."""

import re
import warnings

import keras
import numpy as np
import pytest

from keras_vaf.initializers import FunctionStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, formula, freeze, report, simplify, to_relu
from keras_vaf.models.fitting import fit_to
from tests import reference

L = keras.layers
X = np.random.default_rng(0).normal(1, 2, (256, 6)).astype("float32")


def network():
    """Return a network whose second activation has one wide and one narrow channel."""
    keras.utils.set_random_seed(0)
    hidden = L.Dense(8, "silu", name="first"), L.Dense(2)
    last = L.Dense(4, "hard_tanh", name="lines"), L.Dense(1)
    middle = L.Activation("gelu", name="act")
    model = keras.Sequential([keras.Input((6,)), *hidden, middle, *last])
    kernel = np.random.default_rng(1).normal(size=(8, 2)) * [0.2, 2]
    model.layers[1].set_weights([kernel, np.array([3.0, -1.0])])
    return model


def gelu_errors(layer, h):
    found = np.stack([layer.function(column) for column in h.T], axis=1)
    if found.ndim == 3:
        found = np.diagonal(found, axis1=1, axis2=2)
    return found - reference.FUNCTIONS["gelu"][0](h)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_the_errors_on_the_data_are_reported_and_less_than_those_of_the_start(
    k, sharing
):
    model = network()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = convert(model, g="relu", k=k, sharing=sharing, data=X)
        start = convert(model, g="relu", k=k)
    # The inputs in the given model, not those behind a first layer that was fitted.
    inside = keras.Model(model.inputs[0], model.get_layer("act").input)
    h = keras.ops.convert_to_numpy(inside(X))
    errors, before = (gelu_errors(m.get_layer("act"), h) for m in (fitted, start))
    axis = 0 if sharing == "channel" else None
    sizes, old = (np.sqrt(np.mean(each**2, axis)) for each in (errors, before))
    assert np.all(sizes <= old) and np.any(sizes < old)
    lines = {each.before: each for each in report(fitted).replaced}
    assert lines["gelu"].rms == pytest.approx(np.max(sizes), rel=1e-3)
    assert lines["gelu"].error == pytest.approx(np.max(np.abs(errors)), rel=1e-3)
    assert lines["hard_tanh"].rms < 1e-7
    outputs = [keras.ops.convert_to_numpy(each(X)) for each in (model, fitted)]
    gap = np.max(np.abs(outputs[0] - outputs[1]))
    assert report(fitted).deviation == pytest.approx(gap, rel=1e-3)
    assert not any("call" in vars(layer) for layer in fitted.layers)


@pytest.mark.parametrize(("k", "count"), [(1, 1), (7, 0)])
def test_a_fit_that_is_far_from_the_function_is_named(k, count):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        convert(network(), "first", g="relu", k=k, data=X / 4)
    pattern = r"1 of 1 .*: the root.* \d+% .*'first'\. Use a larger `k`"
    assert len([each for each in told if re.match(pattern, str(each.message))]) == count


def test_an_exact_start_stays_and_the_ends_are_held():
    fitted = convert(network(), g="relu", k=5, data=X)
    lines = fitted.get_layer("lines_activation")
    far = np.array([-1e3, 1e3])
    np.testing.assert_array_equal(lines.function(far), [-1, 1])
    vaf = fitted.layers[1]
    assert isinstance(vaf, VAFActivation) and vaf.function(far)[0] == 0
    assert vaf.function(far)[1] == pytest.approx(1e3, abs=0.3)


@pytest.mark.parametrize("x", [X - 20, 50 * X], ids=["inactive", "wide"])
@pytest.mark.parametrize("name", ["gelu", "hard_silu"])
def test_a_fit_is_never_worse_on_the_data_than_its_start(name, x):
    start, relu = FunctionStart(name), keras.activations.relu
    errors, _ = start.differences(start.units(5, relu), relu, x.ravel())
    assert fit_to(start, 5, relu, x.ravel()).rms <= np.sqrt(np.mean(errors**2))


USES = {
    "convert": lambda data: convert(network(), g="relu", data=data),
    "to_relu": lambda data: to_relu(network(), data=data),
    "freeze": lambda data: freeze(convert(network()), data),
    "simplify": lambda data: simplify(convert(network()), 0.1, data),
    "formula": lambda data: formula(convert(network()), data=data),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, :3], r"inputs of the model, of shape \(None, 6\)\. .*\(256, 3\)"),
        (np.where(X > 3, np.nan, X), r"must be finite.* NaN or infinite"),
        (X[:0], r"`data` must .*at least one.*\(0, 6\)"),
        (np.full((2, 6), "1"), "`data` must be finite numbers.* text"),
    ],
    ids=["shape", "NaN", "empty", "text"],
)
def test_data_that_do_not_fit_are_refused(use, data, message):
    with pytest.raises(ValueError, match=message):
        USES[use](data)


def test_an_error_of_the_machine_is_not_blamed_on_the_data(monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError("out of memory")

    model = network()
    monkeypatch.setattr(model, "call", fail)
    with pytest.raises(MemoryError, match="out of memory"):
        to_relu(model, data=X)
