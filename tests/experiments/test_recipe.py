"""The rule for further learning rates, and the parts that train by the recipe."""

import inspect

import pytest

from keras_vaf.experiments import comparison_protocols
from keras_vaf.sklearn import VAFClassifier
from keras_vaf.training import recipe
from keras_vaf.training.recipe import LEARNING_RATES, further_rates

pytestmark = pytest.mark.backend("torch")

FIRST = (0.001, 0.01)


@pytest.mark.parametrize(
    ("tried", "selected", "expected"),
    [
        (FIRST, {0.001}, [0.0003]),
        (FIRST, {0.01}, [0.03]),
        (FIRST, {0.001, 0.01}, [0.0003, 0.03]),
        ((0.001, 0.003, 0.01), {0.003}, []),
        ((0.0003, *FIRST), {0.001}, []),
        ((0.0003, *FIRST), {0.0003}, [0.0001]),
        ((0.0001, 0.0003, *FIRST), {0.0001}, []),
        ((0.0001, 0.0003, *FIRST), {0.0001, 0.01}, [0.03]),
    ],
)
def test_an_edge_is_extended_by_a_factor_of_3_and_at_most_twice(
    tried, selected, expected
):
    assert further_rates(FIRST, tried, selected) == expected


def test_one_learning_rate_is_never_extended():
    assert further_rates((0.001,), (0.001,), {0.001}) == []


def test_digits_round_the_further_learning_rates():
    tried = (0.0001, *LEARNING_RATES)
    assert further_rates(LEARNING_RATES, tried, {0.0001}) == [3e-05]
    assert further_rates(LEARNING_RATES, tried, {0.0001}, digits=6) == [3.33333e-05]


def test_every_part_trains_by_the_recipe(classes):
    protocols = comparison_protocols.comparison_protocols(classes)
    protocol = protocols[-1]
    options = inspect.signature(VAFClassifier).parameters
    for optimizer, size, patience in (
        (protocol.optimizer.name, protocol.batch_size, protocol.patience),
        ("Adam", options["batch_size"].default, options["patience"].default),
    ):
        assert optimizer == recipe.OPTIMIZER
        assert (size, patience) == (recipe.BATCH_SIZE, recipe.PATIENCE)
    assert protocol.rates == LEARNING_RATES
    names = tuple(protocol.variant.name for protocol in protocols)
    assert names == recipe.ACTIVATIONS
    assert (protocol.epochs, protocol.folds) == (recipe.EPOCHS, recipe.FOLDS)
    assert options["learning_rate"].default in LEARNING_RATES
