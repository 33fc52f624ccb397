"""The protocols of a comparison differ in their activation alone."""

import dataclasses

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import find_variants
from keras_vaf.experiments.comparison_protocols import comparison_protocols

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3)).astype("float32")
    return Dataset("table", "regression", x, x[:, 0], ("a", "b", "c"))


def test_only_the_activation_differs(dataset):
    first, *others = comparison_protocols(dataset, epochs=4, folds=2)

    assert (first.epochs, first.folds, first.hidden) == (4, 2, (100, 50))
    for other in others:
        assert dataclasses.replace(other, variant=first.variant) == first


def test_the_options_arrive(dataset):
    variants = find_variants("relu,vaf-relu")
    relu, vaf = comparison_protocols(
        dataset, variants, k=4, g="tanh", missing="drop", hidden=(8,)
    )

    assert relu.variant == variants[0]
    assert vaf.variant.arguments == {"k": 4, "g": "tanh", "initialization": "relu"}
    assert vaf.preprocessing.missing == "drop"
    assert vaf.preprocessing.targets == "standard"
    assert vaf.hidden == (8,)


def test_a_vaf_keeps_its_own_g_unless_another_is_named(dataset):
    variants = find_variants("vaf-relu,vaf-silu")
    own = comparison_protocols(dataset, variants, k=4)
    named = comparison_protocols(dataset, variants, g="tanh")

    assert [each.variant.arguments["g"] for each in own] == ["relu", "silu"]
    assert [each.variant.arguments["k"] for each in own] == [4, 4]
    assert [each.variant.arguments["g"] for each in named] == ["tanh", "tanh"]


def test_every_activation_tries_the_same_learning_rates(dataset):
    rates = (0.001, 0.01)
    relu, *others = comparison_protocols(
        dataset, learning_rates=rates, equal_parameters=True
    )

    assert (relu.optimizer.name, relu.rates) == ("Adam", rates)
    assert (relu.batch_size, relu.patience) == (32, 30)
    assert {(other.optimizer.name, other.rates) for other in others} == {
        ("Adam", rates)
    }


def test_a_learning_rate_is_positive(dataset):
    with pytest.raises(ValueError, match=r"rates\[1\].*Received: .*-0\.1"):
        comparison_protocols(dataset, learning_rates=(0.1, -0.1))


def test_a_wider_network_is_added_on_request(dataset):
    variants = find_variants("relu,vaf-relu")
    *_, wide = comparison_protocols(
        dataset, variants, hidden=(8,), folds=2, equal_parameters=True
    )

    assert wide.variant.name == "relu-wide"
    assert wide.hidden > (8,)
