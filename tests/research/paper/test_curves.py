"""Start and learned functions: drawn again from seeds, measured and pictured."""

import dataclasses

import numpy as np
import pytest

from keras_vaf.datasets import load
from keras_vaf.experiments import (
    Optimizer,
    Protocol,
    Variant,
    find_variants,
    learned_layers,
    start_layers,
)
from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.layers import VAFActivation
from keras_vaf.research.paper import Form, Reproduction, find_experiment, protocols_of
from keras_vaf.research.paper.curves import change, unlike

pytestmark = pytest.mark.backend("tensorflow")

CURVES = find_experiment("curves")
X = np.linspace(-3, 3, 7)


def trained(dataset, variant, **fields):
    """Return the reports of two folds and the networks that they are of."""
    fields = {"hidden": (5, 3), "epochs": 3, "folds": 2} | fields
    protocol = Protocol.of(dataset, variant, **fields)
    return ProtocolTrainer(protocol, dataset).run(
        [Cell(protocol, 0, fold) for fold in range(2)]
    )


@pytest.fixture(scope="module")
def reports(classes):
    """Reports of both starts."""
    return [
        dataclasses.replace(
            report, protocol=dataclasses.replace(report.protocol, dataset="wine")
        )
        for variant in find_variants("vaf-random,vaf-relu")
        for report, _ in trained(classes, variant)
    ]


def test_the_start_is_what_training_began_with(classes):
    """A learning rate of next to nothing leaves every function as it was."""
    still = Optimizer("SGD", {"learning_rate": 1e-30})
    for starts in (1, 2):
        fields = {"starts": starts, "optimizer": still}
        for variant in find_variants("vaf-random,vaf-random-rescaled,vaf-relu"):
            for report, _ in trained(classes, variant, **fields):
                pairs = zip(start_layers(report), learned_layers(report), strict=True)
                for start, learned in pairs:
                    np.testing.assert_allclose(
                        start.function(X), learned.function(X), atol=1e-12
                    )


def test_functions_of_their_own_have_their_own_starts(classes):
    variant = Variant(
        "own",
        "own",
        "VAFActivation",
        {"k": 3, "g": "relu", "sharing": "neuron", "initialization": "random"},
    )
    [(report, _), _] = trained(classes, variant)

    assert [layer.function(X).shape for layer in start_layers(report)] == [
        (7, 5),
        (7, 3),
    ]


def test_nothing_is_trained_that_another_experiment_trains():
    wine = load("wine")
    for form in (Form(), Form("ours"), Form(quick=True)):
        theirs = {protocol.digest for protocol in protocols_of(wine, form)}
        ours = CURVES.protocols(wine, form)
        names = {protocol.variant.name for protocol in ours}
        assert {"vaf-random", "vaf-relu"} <= names
        assert names <= {"vaf-random", "vaf-random-rescaled", "vaf-relu"}
        assert {protocol.digest for protocol in ours} < theirs


def test_change_and_shape_of_functions_that_are_known():
    relu, leaky, tanh = (
        VAFActivation(k=3, initialization=name)
        for name in ("relu", "leaky_relu", "tanh")
    )
    inputs = [-2.0, -1.0, 1.0, 2.0]

    moved = np.sqrt(np.mean([0.4**2, 0.2**2, 0, 0])) / np.std([0, 0, 1, 2])
    assert change(relu, leaky, inputs) == pytest.approx(moved)
    assert change(relu, relu, inputs) == 0
    assert unlike(leaky, inputs) == pytest.approx(0, abs=1e-12)
    assert 0 < unlike(tanh, np.linspace(-3, 3, 50)) < 0.2


def test_the_table_has_a_line_for_each_layer_and_a_picture_for_each_data(reports):
    table = CURVES.table(Reproduction(CURVES, Form(), tuple(reports)), "validation")

    assert [line[:3] for line in table.lines] == [
        ("wine", variant, str(layer))
        for variant in ("vaf-random", "vaf-relu")
        for layer in (1, 2)
    ]
    [figure] = table.figures.values()
    assert list(table.figures) == ["wine"]
    assert len(figure.axes) == 4
    first = figure.axes[0]
    labels = {line.get_label() for line in first.lines}
    assert {"f", "start", "f of the other folds"} <= labels


def test_the_curves_are_those_of_the_best_fold(reports):
    table = CURVES.table(Reproduction(CURVES, Form(), tuple(reports)), "validation")
    best = min(reports[:2], key=lambda report: report.selected.validation["loss"])

    [line] = (
        line for line in table.figures["wine"].axes[0].lines if line.get_label() == "f"
    )

    x, y = line.get_data()
    np.testing.assert_allclose(y, learned_layers(best)[0].function(x))


def test_a_random_start_is_drawn_as_it_was(reports):
    table = CURVES.table(Reproduction(CURVES, Form(), tuple(reports)), "validation")
    best = min(reports[:2], key=lambda report: report.selected.validation["loss"])

    lines = table.figures["wine"].axes[0].lines
    [start] = (line for line in lines if line.get_label() == "start")

    x, y = start.get_data()
    np.testing.assert_allclose(y, start_layers(best)[0].function(x))
