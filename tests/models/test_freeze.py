"""A frozen model computes the same and needs only Keras."""

import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import layers

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import ABU, APL, KAF, VAFActivation
from keras_vaf.models import convert, freeze, mlp, report
from keras_vaf.optimizers import Rprop
from tests.models.networks import (
    assert_equal_outputs,
    convolutional,
    functional,
    inputs_of,
    outputs_of,
    scatter,
    sequential,
)

WITHOUT = """
import sys
sys.modules["keras_vaf"] = None  # an import of it fails
import keras, numpy as np
folder = sys.argv[1]
model = keras.saving.load_model(folder + "/frozen.keras")
x = np.load(folder + "/x.npy")
np.save(folder + "/y.npy", keras.ops.convert_to_numpy(model(x)))
"""


def vaf(**arguments):
    return VAFActivation(initialization=RandomStart(seed=0), **arguments)


@pytest.mark.parametrize(
    "make, sharing",
    [(sequential, "layer"), (functional, "channel"), (convolutional, "channel")],
)
def test_computes_the_same(make, sharing):
    model = scatter(convert(make(), sharing=sharing))
    frozen = freeze(model)
    assert_equal_outputs(model, frozen)
    assert report(frozen).deviation < 1e-4
    assert "keras_vaf" not in frozen.to_json()
    known = {type(layer).__module__.split(".")[0] for layer in frozen._flatten_layers()}
    assert known == {"keras"}


def test_the_deviation_is_measured_on_the_data():
    model = keras.Sequential([keras.Input((6,)), vaf(k=5, dtype="mixed_bfloat16")])
    x = 1e4 * inputs_of(model)
    frozen = freeze(model, data=x)
    y, expected = (outputs_of(m, x)[0].astype("float64") for m in (frozen, model))
    assert 1 < report(frozen).deviation == pytest.approx(np.abs(y - expected).max())


def test_loads_where_this_package_is_not(tmp_path):
    model = mlp(6, (5,), 2, activation=vaf)  # its kernels have an initializer of ours
    model.compile(Rprop(), "mse")
    x = inputs_of(model)
    freeze(model).save(tmp_path / "frozen.keras")
    np.save(tmp_path / "x.npy", x)
    subprocess.run([sys.executable, "-c", WITHOUT, str(tmp_path)], check=True)
    y = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(y, outputs_of(model, x)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "activation",
    [
        vaf(k=5, g="tanh"),
        vaf(k=2, g="leaky_relu"),
        vaf(g="hard_shrink", k=2),
        vaf(sharing="neuron"),
        vaf(sharing=(2,)),
        vaf(sharing="channel", data_format="channels_first"),
        vaf(dtype="mixed_bfloat16"),
        layers.TimeDistributed(vaf(name="deep"), name="wrapped"),
        APL(sharing="channel", seed=0),
        KAF(D=4, sharing="layer", seed=0),
    ],
    ids=lambda layer: layer.name,
)
def test_any_vaf(activation, tmp_path):
    model = keras.Sequential([keras.Input((3, 4, 5)), activation])
    frozen = freeze(model)
    frozen.save(tmp_path / "frozen.keras")
    loaded = keras.saving.load_model(tmp_path / "frozen.keras")
    half = activation.compute_dtype == "bfloat16"
    assert_equal_outputs(model, loaded, tolerance=0.03 if half else 1e-4)
    assert loaded.outputs[0].dtype == model.outputs[0].dtype


def test_a_loaded_model_freezes_as_the_model_itself(tmp_path):
    inside = keras.layers.Dense(4, activation=VAFActivation(g="tanh", name="inside"))
    model = keras.Sequential([keras.Input((3,)), inside, VAFActivation(name="alone")])
    for _ in range(2):  # a file of a loaded model, too
        model.save(tmp_path / "model.keras")
        model = keras.saving.load_model(tmp_path / "model.keras")
    assert_equal_outputs(model, freeze(model))


def test_units_that_add_nothing_are_left_out():
    model = convert(sequential(), layers="fused", k=8)
    constant = freeze(model).get_layer("fused_activation")
    # One unit of three layers, an input, and a layer for the dtype.
    assert len(constant.layers) == 5


def test_a_function_that_is_constant():
    layer = VAFActivation()
    layer.set_weights(
        [0 * w + 1 if w.shape == () else 0 * w for w in layer.get_weights()]
    )
    frozen = freeze(keras.Sequential([keras.Input((2,)), layer]))
    np.testing.assert_array_equal(outputs_of(frozen, np.ones((3, 2)))[0], 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (sequential, "trainable activation of keras_vaf.layers"),
        (lambda: keras.Sequential([vaf()]), "not built"),
        (
            lambda: keras.Sequential([keras.Input((2,)), ABU(name="abu")]),
            "still need.*ABU.*a VAF has only one g",
        ),
    ],
    ids=["none", "unbuilt", "no VAF"],
)
def test_bad_input_is_told(make, message):
    with pytest.raises(ValueError, match=message):
        freeze(make())
