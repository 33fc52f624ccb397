"""The network that a protocol names."""

import numpy as np
import pytest

from keras_vaf.experiments import Architecture, Variant, find_variants
from keras_vaf.experiments.runs.networks import build_network
from keras_vaf.models import cnet, mlp
from tests.experiments.fakes import make_protocol

pytestmark = pytest.mark.backend("tensorflow")

SEEDS = [1, 2, 3]
IMAGE = (8, 8, 2)


def kinds(network):
    return [type(layer).__name__ for layer in network.layers]


@pytest.mark.parametrize(
    ("architecture", "shape", "network"),
    [
        ("mlp", (4,), lambda activation: mlp(4, (5, 3), 2, activation, "softmax", 1)),
        (
            "cnet",
            IMAGE,
            lambda activation: cnet(IMAGE, (5, 3), 2, activation, "softmax", 1),
        ),
    ],
    ids=["mlp", "cnet"],
)
def test_is_the_named_one_with_an_activation_of_its_own_seed(
    architecture, shape, network
):
    variant = find_variants("vaf-random")[0]
    protocol = make_protocol(variant=variant, architecture=Architecture(architecture))

    built = build_network(protocol, shape, 2, SEEDS, "softmax")

    seeds = iter(SEEDS[1:])
    expected = network(lambda: variant.build(next(seeds)))
    assert kinds(built) == kinds(expected)
    for one, other in zip(built.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    names = [layer.name for layer in built.layers if "activation" in layer.name]
    assert names == ["activation_1", "activation_2"]


def test_network_in_network_takes_the_place_of_activations():
    nin = Architecture("nin", {"depth": 2})
    protocol = make_protocol(variant=Variant("nin", "NIN", "MLPConv"), architecture=nin)

    network = build_network(protocol, IMAGE, 2, SEEDS)

    assert kinds(network)[:3] == ["MLPConv", "MaxPooling2D", "Dropout"]
    assert network.layers[0].filters == (5, 5)


@pytest.mark.parametrize(
    ("architecture", "shape", "said"),
    [
        ("mlp", IMAGE, r"takes a table.* \(None, 8, 8, 2\)"),
        ("cnet", (4,), r"takes images.* \(None, 4\)"),
        ("nin", (4,), r"takes images.* \(None, 4\)"),
    ],
)
def test_refuses_inputs_that_it_does_not_take(architecture, shape, said):
    protocol = make_protocol(architecture=Architecture(architecture))

    with pytest.raises(ValueError, match=said):
        build_network(protocol, shape, 2, SEEDS)
