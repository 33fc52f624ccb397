"""The picture of a comparison, by its structure."""

import dataclasses
import functools

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from keras_vaf.experiments import comparison_figure, learned_layers
from keras_vaf.experiments.runs.learned import learned_activations
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from tests.experiments.fakes import make_arm


@pytest.fixture(scope="module")
def networks():
    activation = functools.partial(VAFActivation, initialization="random")
    return [mlp(3, (5, 4), 2, activation=activation, seed=seed) for seed in range(2)]


@pytest.fixture(scope="module")
def reports(networks):
    x = np.random.default_rng(0).normal(size=(30, 3)).astype("float32")
    relu = make_arm("relu", [0.5, 0.75])
    vaf = [
        dataclasses.replace(
            report,
            activations=learned_activations(network, x),
        )
        for report, network in zip(
            make_arm("vaf-random", [1.0, 0.25], losses=[0.4, 0.3]),
            networks,
            strict=True,
        )
    ]
    return [*relu, *vaf]


def test_rebuilds_what_was_learned(reports, networks):
    x = np.linspace(-2, 2, 7)

    layers = learned_layers(reports[-1])

    assert learned_layers(reports[0]) == []
    for layer, original in zip(layers, networks[1].layers[1::2], strict=True):
        np.testing.assert_array_equal(layer.function(x), original.function(x))


def test_shows_the_score_of_every_fold_and_their_mean(reports):
    scores = comparison_figure(reports).axes[0]

    relu, vaf = (
        line for line in scores.get_lines() if not line.get_label().startswith("_")
    )
    assert [relu.get_label(), vaf.get_label()] == ["ReLU", "VAF, random start"]
    assert list(relu.get_ydata()) == [0.5, 0.75]
    assert list(vaf.get_ydata()) == [1.0, 0.25]
    means = [container.lines[0].get_ydata()[0] for container in scores.containers]
    assert means == [0.625, 0.625]
    ticks = [label.get_text() for label in scores.get_xticklabels()]
    assert ticks == ["1", "2", "mean"]
    assert "majority class: 0.5" in scores.get_title(loc="left")


def test_shows_the_functions_of_the_fold_with_the_best_validation(reports, networks):
    panels = comparison_figure(reports).axes[1:]

    titles = [ax.get_title(loc="left") for ax in panels]
    assert titles == [
        "VAF, random start: hidden layer 1, fold 2",
        "VAF, random start: hidden layer 2, fold 2",
    ]
    for ax, layer in zip(panels, networks[1].layers[1::2], strict=True):
        line = next(line for line in ax.get_lines() if line.get_label() == "f")
        x, y = line.get_data()
        np.testing.assert_allclose(y, layer.function(x))


def test_without_learned_functions_shows_the_scores_alone(reports):
    assert len(comparison_figure(reports[:2]).axes) == 1


def test_leaves_open_figures_and_settings_alone(reports):
    before = dict(matplotlib.rcParams)

    comparison_figure(reports)

    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_of_several_seeds_names_them(reports):
    seeds = [
        dataclasses.replace(report, seed=seed)
        for seed in (0, 1)
        for report in reports[:2]
    ]

    ticks = comparison_figure(seeds).axes[0].get_xticklabels()

    assert [label.get_text() for label in ticks][:-1] == [
        "1\n(0)",
        "2\n(0)",
        "1\n(1)",
        "2\n(1)",
    ]
