"""Functions that section 3 of the paper writes as a VAF are written as one."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers
from keras_vaf.initializers import RandomStart
from keras_vaf.models import to_vaf
from tests.layers.family import built

X = np.linspace(-10, 10, 2001)


def prelu(shape, shared_axes=None):
    layer = keras.layers.PReLU("uniform", shared_axes=shared_axes)
    layer.build((None, *shape))
    layer.set_weights([np.random.default_rng(0).normal(size=layer.alpha.shape)])
    return layer


def vaf(g):
    return layers.VAFActivation(g=g, initialization=RandomStart(seed=0))


def crossed(layer):
    layer.set_weights([np.array(value) for value in (1.0, 0.3, -0.5, 2.0)])
    return layer


SINGLE = (
    keras.layers.ReLU(),
    keras.layers.ReLU(max_value=6),
    keras.layers.ReLU(max_value=2, negative_slope=0.1),
    keras.layers.LeakyReLU(0.3),
    keras.layers.Activation("relu6"),
    keras.layers.Activation("gelu"),
    crossed(layers.SReLU(sharing="layer")),
    built(layers.KAF(seed=0, train_gamma=True), (None, 1), sharing="layer"),
    *(vaf(g) for g in ("relu", "leaky_relu", "linear", "hard_tanh", "soft_shrink")),
    vaf("tanh"),
)


SEVERAL = [
    prelu((3, 4, 5)),
    prelu((3, 4, 5), shared_axes=[1, 2]),
    prelu((3, 4, 5), shared_axes=[2]),
    *(
        built(layer, (None, 3, 4, 5), sharing=sharing)
        for layer in (layers.APL(seed=0), layers.KAF(D=5), layers.SReLU())
        for sharing in ("channel", "neuron", (1, 2))
    ),
]


def member(member):
    """Return a layer with weights near their start, because some are divisors."""
    layer = built(member.layer(), (None, 1), sharing="layer")
    random = np.random.default_rng(0)
    layer.set_weights(
        [w * random.uniform(0.5, 2, w.shape) for w in layer.get_weights()]
    )
    return layer


MEMBERS = [member(each) for each in layers.ACTIVATIONS if not each.not_a_vaf]
OTHERS = [each for each in layers.ACTIVATIONS if each.name and each.not_a_vaf]


@pytest.mark.parametrize(
    "layer", [*SINGLE, *SEVERAL, *MEMBERS], ids=lambda layer: layer.name
)
def test_equal_values(layer):
    random = np.random.default_rng(1).uniform(-10, 10, (2, 3, 4, 5))
    x = (random if layer in SEVERAL else X[:, None]).astype("float32")
    y, expected = (ops.convert_to_numpy(each(x)) for each in (to_vaf(layer), layer))
    np.testing.assert_allclose(y, expected, 0, 1e-5 * max(1, np.abs(expected).max()))


def test_straight_lines_become_a_vaf_of_relu():
    for layer in (SINGLE[1], SINGLE[6], vaf("leaky_relu")):
        assert to_vaf(layer).g is keras.activations.relu


@pytest.mark.parametrize(
    "layer, reason",
    [
        *((member(each), each.not_a_vaf) for each in OTHERS),
        (keras.layers.ReLU(threshold=1), "jumps"),
        (keras.layers.Activation("softmax"), "several elements"),
        (keras.layers.Dense(2), "no g is known"),
        (layers.KAF(), "no weights yet"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_others_say_why_not(layer, reason):
    with pytest.raises(ValueError, match=reason):
        to_vaf(layer)
