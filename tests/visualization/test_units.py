"""The picture of the hidden units behind a VAF."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_units


def test_units_and_constant_add_up_to_the_function():
    layer = VAFActivation(k=3, g="tanh")
    weights = [[1, 2, -1], [0, 0.5, 0], [1, -2, 0.25], 0.5]
    layer.set_weights([np.array(weight) for weight in weights])

    function, *units, constant = plot_units(layer).get_lines()

    x = function.get_xdata()
    expected = [np.tanh(x), -2 * np.tanh(2 * x + 0.5), 0.25 * np.tanh(-x)]
    for unit, values in zip(units, expected, strict=True):
        np.testing.assert_allclose(unit.get_ydata(), values, atol=1e-6)
    np.testing.assert_allclose(constant.get_ydata(), 0.5)
    total = sum(expected) + 0.5
    np.testing.assert_allclose(function.get_ydata(), total, atol=1e-6)
    np.testing.assert_allclose(layer.function(x), total, atol=1e-6)


def test_many_units_are_told_apart():
    units = plot_units(VAFActivation(k=12, initialization="random")).get_lines()[1:-1]

    looks = {(line.get_color(), line.get_linestyle()) for line in units}
    assert len(looks) == 12


def test_data_decide_the_range():
    ax = plot_units(VAFActivation(initialization="random"), data=np.linspace(0, 10, 5))

    assert ax.get_xlim() == pytest.approx((-0.5, 10.5), abs=0.05)


def test_shows_the_function_that_is_asked_for():
    layer = VAFActivation(sharing="neuron", initialization="random")
    layer.build((None, 2, 3))

    function = plot_units(layer, index=(1, 2)).get_lines()[0]

    x, y = function.get_data()
    np.testing.assert_allclose(y, layer.function(x)[:, 1, 2], atol=1e-6)


@pytest.mark.parametrize("index", [(), (1,), (1, 3), (-1, 0), (0, 0, 0)])
def test_refuses_an_index_that_names_no_function(index):
    layer = VAFActivation(sharing="neuron")
    layer.build((None, 2, 3))

    with pytest.raises(ValueError, match=r"of shape \(2, 3\). Received: index="):
        plot_units(layer, index=index)


def test_refuses_other_layers():
    with pytest.raises(ValueError, match="Received: "):
        plot_units(keras.layers.PReLU())
