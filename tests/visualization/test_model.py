"""The picture of all activations of a model."""

import itertools

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activations


@pytest.fixture
def model():
    """Four activations: by channel, two in a block, and one in a Dense layer."""
    layers, random = keras.layers, {"initialization": "random"}
    block = [layers.Dense(4), *(VAFActivation(name=n, **random) for n in "ab")]
    inner = VAFActivation(name="inner", **random)
    stack = [
        *(keras.Input((3,)), layers.Dense(5)),
        VAFActivation(sharing="channel", name="channels", **random),
        keras.Sequential(block, name="block"),
        layers.Dense(2, activation=inner, name="head"),
    ]
    return keras.Sequential(stack, name="model")


def test_a_short_formula_is_in_the_title():
    vafs = [VAFActivation(g="tanh", name="short"), VAFActivation(k=9, name="long")]
    weight = np.linspace(-1, 1.1, 9)
    vafs[1].set_weights([weight, weight[::-1], weight, np.array(0.5)])
    axes = plot_activations(keras.Sequential([keras.Input((3,)), *vafs]))
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == ["short\nf(a) = tanh(a)", "long"]


def test_of_many_layers_the_nine_are_shown_that_moved_most():
    vafs = [VAFActivation(name=f"{'a_long_name_' * 4}{n}") for n in range(12)]
    for layer, step in zip(vafs, [5, 0, 3, 4, 1, 9, 2, 8, 0, 7, 6, 5], strict=True):
        layer.beta_bias.assign(step)
    axes = plot_activations(keras.Sequential([keras.Input((3,)), *vafs]))

    titles = [ax.get_title(loc="left").partition("\n")[0] for ax in axes]
    shown = [int(title.rpartition("_")[2]) for title in titles]
    assert shown == [0, 2, 3, 5, 6, 7, 9, 10, 11]
    assert all(title.startswith("…") for title in titles)
    assert axes[0].figure.get_suptitle() == "9 of 12 activations, which moved most"


def test_shows_what_enters_each_layer(model):
    x = np.random.default_rng(0).normal(size=(50, 3)).astype("float32")
    kernel, bias = model.layers[0].get_weights()

    axes = plot_activations(model, x)

    low, high = np.quantile(x @ kernel + bias, [0.001, 0.999])
    assert axes[0].get_xlim() == pytest.approx(
        (low - 0.05 * (high - low), high + 0.05 * (high - low)), rel=1e-4
    )
    for ax in axes:
        assert [patch.get_label() for patch in ax.patches] == ["data"]
    titles = [ax.get_title(loc="left").partition("\n")[0] for ax in axes]
    assert titles == ["channels", "block/a", "block/b", "head/inner"]


@pytest.mark.parametrize("scale", [3e-4, 4e5])
def test_labels_of_many_small_panels_do_not_overlap(scale):
    vafs = [VAFActivation(k=3, name=f"vaf_{place}") for place in range(4)]
    model = keras.Sequential([keras.Input((3,)), *vafs])

    axes = plot_activations(model, scale * np.linspace(-1, 0.7, 30).reshape(10, 3))

    axes[0].figure.draw_without_rendering()
    for ax in axes:
        boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
        for left, right in itertools.pairwise(boxes):
            assert left.x1 < right.x0


def test_one_legend_serves_all_panels(model):
    first, *others = plot_activations(model)

    (legend,) = first.figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len(set(labels))
    assert {"f", "derivative of f", "median f"} <= set(labels)
    named = [text.get_text() for text in first.get_legend().get_texts()]
    assert all(label.startswith("f[") for label in named)
    assert not set(named) & set(labels)
    assert [ax.get_legend() for ax in others] == [None, None, None]


def test_the_legend_of_one_panel_is_inside_the_picture():
    network = keras.Sequential([keras.Input((1,)), VAFActivation(k=5)])
    [ax] = plot_activations(network, np.linspace(-2, 2, 50)[:, None])
    ax.figure.canvas.draw()
    (legend,) = ax.figure.legends
    found = legend.get_window_extent()
    assert len(legend.get_texts()) >= 5
    assert ax.figure.bbox.x0 <= found.x0 and found.x1 <= ax.figure.bbox.x1
