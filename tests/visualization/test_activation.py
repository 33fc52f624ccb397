"""Pictures of one layer's functions: their structure, and how they look."""

import shutil

import keras
import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.testing.compare import compare_images

from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.visualization import plot_activation, plot_epochs
from tests.visualization import make_reference

# Root mean square of the differences in grey, of 255: letters may move a little.
TOLERANCE = 6


@pytest.mark.backend("tensorflow")
@pytest.mark.xfail(
    matplotlib.__version__.startswith("3.8."),
    reason="Older versions draw other letters.",
)
@pytest.mark.parametrize("name", make_reference.PICTURES)
def test_a_picture_looks_as_when_somebody_last_looked_at_it(name, tmp_path):
    file = make_reference.FOLDER / f"{name}.png"
    expected = shutil.copy(file, tmp_path / f"{name}-expected.png")
    drawn = make_reference.draw(name, tmp_path)
    assert compare_images(str(expected), str(drawn), TOLERANCE) is None


def lines_of(ax):
    return {line.get_label(): line for line in ax.get_lines()}


@pytest.fixture
def layer():
    """One that bends at -1, 0 and 2."""
    return make_reference.vaf()


def test_shows_function_derivative_knots_and_start(layer):
    ax = plot_activation(layer)
    lines = lines_of(ax)
    assert list(lines) == ["f", "derivative of f", "knots of f", "start"]
    x, y = lines["f"].get_data()
    np.testing.assert_allclose(y, layer.function(x))
    assert (x[0], x[-1]) == pytest.approx((-4.4, 4.4))
    assert lines["knots of f"].get_xdata() == pytest.approx([-1, 0, 2])
    assert lines["knots of f"].get_ydata() == pytest.approx([0.25, 0.25, 2.25])
    np.testing.assert_allclose(lines["start"].get_ydata(), np.maximum(x, 0))
    _, right = ax.figure.axes
    x, slope = right.get_lines()[0].get_data()
    far = np.abs(x[:, None] - [-1, 0, 2]).min(axis=1) > 0.02
    expected = np.select([x < -1, x < 0, x < 2], [-0.5, 0, 1], -0.5)
    np.testing.assert_allclose(slope[far], expected[far], atol=1e-6)


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


def test_a_class_of_ones_own_may_have_arguments_of_the_same_names():
    class Own(TrainableActivation):
        start_values = (1.0, 2.0)

        def __init__(self):
            self.g, self.initialization = keras.activations.relu, "zeros"
            super().__init__()

        def value(self, x, slope, height):
            return slope * x + height

    assert list(lines_of(plot_activation(Own()))) == ["f", "derivative of f"]


def test_draws_what_is_finite(layer):
    data = np.array([np.nan, 1, np.inf, 3, -np.inf])
    assert plot_activation(layer, data).get_xlim() == pytest.approx(
        (0.9, 3.1), abs=0.01
    )
    assert plot_activation(layer, data[:1]).get_xlim() == (-4.4, 4.4)
    layer.set_weights([np.full(weight.shape, np.nan) for weight in layer.get_weights()])
    plot_activation(layer, np.ones(3)).figure.canvas.draw()


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({"g": "tanh"}, np.tanh),
        ({"initialization": PiecewiseLinearStart((0.0,), (-1.0, 1.0))}, np.abs),
        ({"g": "tanh", "initialization": "random"}, None),
    ],
)
def test_a_start_that_is_not_random_is_shown(arguments, expected):
    lines = lines_of(plot_activation(VAFActivation(**arguments)))
    assert ("start" in lines) == (expected is not None)
    if expected:
        x, y = lines["start"].get_data()
        np.testing.assert_allclose(y, expected(x), atol=1e-6)


def test_channels_are_a_bundle_with_the_most_different_named():
    ax = plot_activation(make_reference.channels())
    lines = lines_of(ax)
    x, median = lines["median f"].get_data()
    np.testing.assert_allclose(median, np.maximum(x, 0), atol=0.1)
    assert list(lines)[1:3] == ["f[11]", "f[3]"]
    np.testing.assert_allclose(lines["f[3]"].get_ydata(), 2.5 * np.maximum(x, 0))
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


def test_six_of_many_epochs_are_shown_beside_the_start_over_their_data():
    panels = plot_epochs(list(map(make_reference.record, range(11))))
    titles = [ax.get_title(loc="left") for ax in panels]
    assert titles == ["start", *(f"epoch {n}" for n in (2, 4, 6, 8, 10))]
    x, y = lines_of(panels[1])["f"].get_data()
    np.testing.assert_allclose(y, 2 * x)
    np.testing.assert_allclose(lines_of(panels[1])["start"].get_ydata(), 0 * x)
    (histogram,) = panels[1].patches
    assert list(histogram.get_data().edges) == [-2, -1, 1, 2]
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in panels}) == 1
    assert panels[0].get_ylim()[1] >= 20
