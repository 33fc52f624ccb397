"""Beyond the paper: VAFs that differ from the usual one in one choice."""

import dataclasses
import json

import numpy as np
import pytest

from keras_vaf.experiments import Protocol, find_variants
from keras_vaf.experiments.optimizer import Optimizer
from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.optimizers import ActivationsApart
from keras_vaf.research.paper import Form, Reproduction, find_experiment
from keras_vaf.research.paper.choices import CHOICES, OPTIMIZERS
from tests.experiments.fakes import make_arm, make_protocol

pytestmark = pytest.mark.backend("tensorflow")

X = np.linspace(-2, 2, 9)

BY_NAME = {variant.name: variant for variant in CHOICES}


@pytest.mark.parametrize("variant", CHOICES, ids=lambda variant: variant.name)
def test_every_choice_can_be_built_and_starts_as_it_says(variant):
    layer = variant.build(seed=0)
    layer.build((None, 4))

    if variant.name in ("vaf-copies", "vaf-k1", "vaf-k5", "vaf-k9"):
        np.testing.assert_allclose(layer.function(X), np.maximum(X, 0), atol=1e-6)


def test_names_are_unique_and_the_usual_vaf_is_that_of_the_tables():
    variants = [*CHOICES, *(variant for variant, _ in OPTIMIZERS)]

    assert len({variant.name for variant in variants}) == len(variants)
    assert CHOICES[0] == find_variants("vaf-relu")[0]


def test_all_are_held_against_the_vaf_that_they_differ_from(classes):
    experiment = find_experiment("choices-classification")
    protocols = experiment.protocols(classes, Form())
    names = {protocol.variant.name for protocol in protocols}

    assert set(experiment.references) == names
    assert {experiment.references[name] for name in names - {"tanh", "silu"}} == {
        ("vaf-relu",),
        ("vaf-adamw",),
    }
    assert {protocol.hidden for protocol in protocols} == {(25, 10)}
    assert {protocol.epochs for protocol in protocols} == {300}


def test_adamw_has_its_one_rate_on_large_data_too(classes):
    x, y = np.zeros((5_000, 3), "float32"), np.arange(5_000) % 2
    large = dataclasses.replace(classes, x=x, y=y)
    protocols = find_experiment("choices-classification").protocols(large, Form())

    assert {
        (each.optimizer.name, len(each.rates), each.batch_size) for each in protocols
    } == {("RMSprop", 10, 128), ("AdamW", 0, 32)}


@pytest.mark.parametrize("name", ["tanh", "silu"])
def test_a_fixed_function_is_held_against_the_vaf_that_starts_as_it(name):
    experiment = find_experiment("choices-regression")
    fixed, vaf = (
        next(each for each in CHOICES if each.name == arm)
        for arm in (name, *experiment.references[name])
    )
    layer = vaf.build(seed=0)
    layer.build((None, 4))

    expected = np.asarray(fixed.build(seed=0)(X))
    np.testing.assert_allclose(layer.function(X), expected, atol=1e-6)


def test_settings_are_not_compared_as_a_team():
    experiment = find_experiment("choices-classification")
    reports = [
        report
        for arm in (
            "relu",
            "vaf-relu",
            "vaf-silu",
            "vaf-random",
            "gelu",
            "silu",
            "tanh",
        )
        for report in make_arm(arm, [0.5, 0.6])
    ]

    done = Reproduction(experiment, Form(), tuple(reports))
    arms = {line[2] for line in experiment.table(done, "validation").lines}

    assert {"vaf-relu", "vaf-silu", "vaf-random"} < arms
    assert not any(arm.startswith(("vaf-best", "best-fixed")) for arm in arms)


def test_copies_stay_equal_and_an_exact_start_does_not(classes):
    exact, copies = BY_NAME["vaf-relu"], BY_NAME["vaf-copies"]
    for variant, distinct in ((copies, 1), (exact, 3)):
        protocol = Protocol.of(classes, variant, hidden=(4,), epochs=5, folds=2)
        [(report, _)] = ProtocolTrainer(protocol, classes).run([Cell(protocol, 0, 0)])
        alpha = report.activations[0]["weights"]["alpha"]
        assert len(set(alpha)) == distinct


def test_an_optimizer_may_treat_activations_apart():
    model = mlp(3, (4,), 1, VAFActivation)

    plain = Optimizer("AdamW", {"weight_decay": 0.1}).build(model)
    apart = Optimizer("AdamW", {"weight_decay": 0.1}, apart=0.5).build(model)

    assert not isinstance(plain, ActivationsApart)
    assert isinstance(apart, ActivationsApart)
    assert apart.learning_rate_factor == 0.5
    assert apart.activation_optimizer.weight_decay == 0


def test_protocols_hold_plain_data_without_module_paths():
    protocol = make_protocol(variant=BY_NAME["vaf-copies"])

    text = json.dumps(dataclasses.asdict(protocol))

    assert "keras_vaf.experiments>CopiesStart" in text
    assert "module" not in text
    assert Protocol.from_dict(json.loads(text)) == protocol
