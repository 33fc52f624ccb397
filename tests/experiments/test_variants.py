"""The activations under comparison, as data."""

import keras
import numpy as np
import pytest

from keras_vaf.experiments import VARIANTS, Variant, find_variants
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation


def test_are_found_by_name_in_the_order_asked_for():
    variants = find_variants("vaf-relu, relu")

    assert [variant.name for variant in variants] == ["vaf-relu", "relu"]


@pytest.mark.parametrize("names", ["relu,gleu", "relu,relu", ""])
def test_refuses_unknown_and_repeated_names(names):
    with pytest.raises(ValueError, match=r"from: relu, vaf-random, .* Received: "):
        find_variants(names)


def test_builds_layers_of_the_package_and_of_keras():
    relu, random, start = (variant.build(seed=0) for variant in VARIANTS)

    assert isinstance(relu, keras.layers.ReLU)
    assert isinstance(random, VAFActivation)
    np.testing.assert_array_equal(start.function([-2, 0, 3]), [0, 0, 3])


def test_random_start_depends_on_the_seed_alone():
    variant = find_variants("vaf-random")[0]

    first, again, other = (variant.build(seed).function([1.0]) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_a_start_in_a_configuration_depends_on_the_seed_alone():
    [variant] = find_variants("vaf-random-rescaled")

    layer, again = (variant.build(seed=4) for _ in range(2))
    start = RandomStart(seed=4, rescale=True)((), 3, keras.activations.relu)

    for weights, same, expected in zip(
        layer.get_weights(), again.get_weights(), start, strict=True
    ):
        np.testing.assert_array_equal(weights, same)
        np.testing.assert_allclose(weights, expected, rtol=1e-6)
    assert variant.arguments["initialization"]["config"]["seed"] is None


def test_updates_only_the_arguments_it_has():
    relu, random, _ = (variant.updated(k=5, g="tanh") for variant in VARIANTS)

    assert relu.arguments == {}
    assert random.arguments == {"k": 5, "g": "tanh", "initialization": "random"}
    assert find_variants("vaf-random")[0].arguments["k"] == 3


def test_any_layer_can_be_a_variant():
    layer = Variant("elu", "ELU", "ELU", {"alpha": 0.5}).build(seed=0)

    assert layer.alpha == 0.5
