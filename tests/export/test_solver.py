"""A solver takes a widened network; the extra `relu-tools` installs it."""

import keras
import numpy as np
import pytest
from keras import layers

from keras_vaf.models import to_relu

X = np.random.default_rng(0).uniform(-1, 1, (10_000, 3)).astype("float32")


def network():
    keras.utils.set_random_seed(0)
    first = [layers.Dense(5, "silu"), layers.Dropout(0.1), layers.Dense(4)]
    last = [layers.BatchNormalization(), layers.Activation("gelu"), layers.Dense(1)]
    model = keras.Sequential([keras.Input((3,)), *first, *last])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(X, np.sin(3 * X[:, :1]) + X[:, 1:2] * X[:, 2:], epochs=2, verbose=0)
    return to_relu(model, k=5, data=X[:256], widen=True)


def optimum(model, sense):
    """Return the largest or smallest output over the box [-1, 1], and the place."""
    import highspy

    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_feasibility_tolerance", 1e-9)
    solver.setOptionValue("mip_rel_gap", 0.0)
    units = inputs = [solver.addVariable(-1, 1) for _ in range(3)]
    low, high = -np.ones(3), np.ones(3)
    *hidden, last = [each.get_weights() for each in model.layers if each.weights]
    for kernel, bias in hidden:
        rise, fall = np.maximum(kernel, 0), np.minimum(kernel, 0)
        low, high = low @ rise + high @ fall + bias, high @ rise + low @ fall + bias
        sums, units = linear(units, kernel, bias), []
        for sum_, least, most in zip(sums, low.tolist(), high.tolist(), strict=True):
            unit, on = solver.addVariable(0, max(most, 0)), solver.addBinary()
            solver.addConstr(unit >= sum_)
            solver.addConstr(unit <= sum_ - min(least, 0) * (1 - on))
            solver.addConstr(unit <= max(most, 0) * on)
            units.append(unit)
        low, high = np.maximum(low, 0), np.maximum(high, 0)
    getattr(solver, sense)(linear(units, *last)[0])
    return solver.getObjectiveValue(), np.array([solver.vals(inputs)], "float32")


def linear(units, kernel, bias):
    columns = zip(kernel.T.tolist(), bias.tolist(), strict=True)
    return [sum(w * u for w, u in zip(c, units, strict=True)) + b for c, b in columns]


@pytest.mark.backend("tensorflow")
@pytest.mark.needs("highspy")
def test_an_optimum_is_the_output_there_and_bounds_all_others():
    model = network()
    outputs = model.predict(X, verbose=0)
    for sense, bound in (("minimize", outputs.min()), ("maximize", outputs.max())):
        value, place = optimum(model, sense)
        assert model.predict(place, verbose=0) == pytest.approx(value, abs=1e-6)
        assert abs(value - bound) < 0.2
        assert value <= bound + 1e-6 if sense == "minimize" else value >= bound - 1e-6
