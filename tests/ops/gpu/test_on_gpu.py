"""The kernels on a GPU: against float64, and in a training step."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import info, switches
from tests.ops.gpu import calls

pytestmark = [pytest.mark.gpu, pytest.mark.backend("jax", "torch")]


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """The kernels are on."""
    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    assert info()["kernels for GPUs"].startswith("active")


def test_a_gpu_computes_what_float64_does():
    if keras.backend.backend() == "torch":
        from tests.ops.gpu import interpreted

        interpreted.main("cuda", calls.ALL)
    else:
        from tests.ops.gpu import test_jax

        for call in calls.ALL:
            test_jax.compare(*call)


@pytest.mark.parametrize("sharing", ["layer", "channel", "neuron"])
@pytest.mark.parametrize("g", ["relu", "gelu"])
def test_training_steps_equal_those_of_a_processor(g, sharing):
    x = np.random.default_rng(0).normal(size=(32, 8, 8, 3)).astype("float32")

    def trained(device):
        with keras.device(device):
            keras.utils.set_random_seed(0)
            vaf = VAFActivation(g=g, sharing=sharing)
            layers = keras.layers.Conv2D(8, 3), vaf, keras.layers.Flatten()
            model = keras.Sequential([*layers, keras.layers.Dense(1)])
            model.compile(keras.optimizers.SGD(0.01), "mse")
            model.fit(x, x.mean((1, 2, 3)), epochs=3, shuffle=False, verbose=0)
            return model.get_weights()

    for one, other in zip(trained("gpu:0"), trained("cpu:0"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
