"""Pictures of one layer's functions, by their structure."""

import keras
import numpy as np
import pytest
from matplotlib import pyplot

from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activation


def lines_of(ax):
    return {line.get_label(): line for line in ax.get_lines()}


@pytest.fixture
def layer():
    """One that bends at -1, 0 and 2."""
    layer = VAFActivation(k=4, initialization="relu")
    weights = [[1, -1, 2, 0], [0, -1, -4, 1], [1, 0.5, -0.75, 2], 0.25]
    layer.set_weights([np.array(weight) for weight in weights])
    return layer


def test_shows_function_derivative_knots_and_start(layer):
    lines = lines_of(plot_activation(layer))

    assert list(lines) == ["f", "derivative of f", "knots of f", "start"]
    x, y = lines["f"].get_data()
    np.testing.assert_allclose(y, layer.function(x))
    assert (x[0], x[-1]) == pytest.approx((-4.4, 4.4))
    assert lines["knots of f"].get_xdata() == pytest.approx([-1, 0, 2])
    assert lines["knots of f"].get_ydata() == pytest.approx([2.25, 2.25, 4.25])
    np.testing.assert_allclose(lines["start"].get_ydata(), np.maximum(x, 0))
    assert lines["start"].get_linestyle() == "--"


def test_derivative_is_the_slope_between_knots(layer):
    _, right = plot_activation(layer).figure.axes
    x, slope = right.get_lines()[0].get_data()

    for low, high, expected in (
        (-4.4, -1, -0.5),
        (-1, 0, 0),
        (0, 2, 1),
        (2, 4.4, -0.5),
    ):
        inside = (x > low + 0.02) & (x < high - 0.02)
        np.testing.assert_allclose(slope[inside], expected, atol=1e-6)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_the_rounding_of_a_constant_derivative_is_not_drawn_large(slope):
    layer = VAFActivation(k=1, g="linear", initialization="random")
    layer.set_weights([np.array([slope]), np.zeros(1), np.ones(1), np.array(0.7)])

    ax = plot_activation(layer, data=np.linspace(-4, 4, 99))

    low, high = ax.figure.axes[1].get_ylim()
    assert high - low > 1e-4


def test_histogram_counts_the_data_and_decides_the_range(layer):
    data = np.concatenate([np.full(300, 1.0), np.full(100, 3.0)]).reshape(20, 20)

    ax = plot_activation(layer, data=keras.ops.convert_to_tensor(data))

    (histogram,) = ax.patches
    values, edges, _ = histogram.get_data()
    assert (edges[0], edges[-1]) == pytest.approx(ax.get_xlim())
    assert ax.get_xlim() == pytest.approx((0.9, 3.1))
    tall, low = np.sort(values)[:-3:-1]
    assert tall == pytest.approx(3 * low)
    assert 0 < tall < 0.5  # of the height of the axes, beneath the curves
    assert histogram.get_label() == "data"


def test_random_start_and_smooth_functions_have_neither_start_nor_knots():
    lines = lines_of(plot_activation(VAFActivation(g="tanh", initialization="random")))

    assert list(lines) == ["f", "derivative of f"]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({"g": "tanh"}, np.tanh),
        ({"initialization": PiecewiseLinearStart((0.0,), (-1.0, 1.0))}, np.abs),
    ],
)
def test_the_start_is_shown(arguments, expected):
    lines = lines_of(plot_activation(VAFActivation(**arguments)))

    x, y = lines["start"].get_data()
    np.testing.assert_allclose(y, expected(x), atol=1e-6)


def test_channels_are_a_bundle_with_the_most_different_named():
    layer = VAFActivation(k=1, sharing="channel")
    layer.build((None, 6))
    slopes = np.array([1.0, 1.1, 0.9, 1.0, 5.0, -3.0])
    layer.set_weights([np.ones((6, 1)), np.zeros((6, 1)), slopes[:, None], np.zeros(6)])

    ax = plot_activation(layer)

    lines = lines_of(ax)
    x, median = lines["median f"].get_data()
    np.testing.assert_allclose(median, np.maximum(x, 0), atol=1e-6)
    assert list(lines)[1:3] == ["f[4]", "f[5]"]
    np.testing.assert_allclose(lines["f[4]"].get_ydata(), 5 * np.maximum(x, 0))
    bands = [band.get_label() for band in ax.collections]
    assert bands == ["50% of functions", "90% of functions"]


def test_draws_on_axes_that_are_given(layer):
    _, (left, right) = pyplot.subplots(1, 2)

    assert plot_activation(layer, ax=right) is right
    assert not left.get_lines()
    assert len(pyplot.get_fignums()) == 1


def test_legend_of_a_new_figure_covers_nothing(layer):
    ax = plot_activation(layer)
    ax.set_title("a title", loc="right")
    ax.figure.draw_without_rendering()

    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert not legend.overlaps(ax.title.get_window_extent())
    [right] = (each for each in ax.figure.axes if each is not ax)
    assert not legend.overlaps(right.get_tightbbox())
    assert legend.x1 <= ax.figure.bbox.x1


@pytest.mark.parametrize(
    "layer",
    [keras.layers.ReLU(), VAFActivation(sharing="channel"), "relu"],
    ids=["fixed", "unbuilt", "name"],
)
def test_refuses_what_has_no_learned_function(layer):
    with pytest.raises(ValueError, match=r"trainable activation .* Received: "):
        plot_activation(layer)

    assert pyplot.get_fignums() == []
