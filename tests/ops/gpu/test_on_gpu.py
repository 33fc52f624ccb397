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
        return
    from tests.ops.gpu import test_jax

    for call in calls.ALL:
        test_jax.compare(*call)


UNSHARED = {"layer": (), "channel": (8,), "neuron": (8, 6, 6)}


def trained_by_torch(device, g, sharing):
    """Return the weights of a small network after three steps on a device."""
    import torch
    from torch import nn

    from keras_vaf.torch import VAF

    torch.manual_seed(0)
    vaf = VAF(g=g, unshared=UNSHARED[sharing])
    layers = nn.Conv2d(3, 8, 3), vaf, nn.Flatten(), nn.Linear(288, 1)
    network, x = nn.Sequential(*layers), torch.randn(32, 3, 8, 8)
    network, x = network.to(device), x.to(device)
    optimizer = torch.optim.SGD(network.parameters(), 0.01)
    for _ in range(3):
        optimizer.zero_grad()
        (network(x)[:, 0] - x.mean((1, 2, 3))).square().mean().backward()
        optimizer.step()
    return [each.detach().cpu().numpy() for each in network.parameters()]


def trained_by_jax(device, g, sharing):
    """Return the same of a network of Keras."""
    x = np.random.default_rng(0).normal(size=(32, 8, 8, 3)).astype("float32")
    with keras.device(device):
        keras.utils.set_random_seed(0)
        vaf = VAFActivation(g=g, sharing=sharing)
        layers = keras.layers.Conv2D(8, 3), vaf, keras.layers.Flatten()
        model = keras.Sequential([*layers, keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.01), "mse")
        model.fit(x, x.mean((1, 2, 3)), epochs=3, shuffle=False, verbose=0)
        return model.get_weights()


@pytest.mark.parametrize("sharing", UNSHARED)
@pytest.mark.parametrize("g", ["relu", "gelu"])
def test_training_steps_equal_those_of_a_processor(g, sharing):
    jax = keras.backend.backend() == "jax"
    run = trained_by_jax if jax else trained_by_torch
    found = run("gpu:0" if jax else "cuda", g, sharing)
    for one, other in zip(found, run("cpu:0", g, sharing), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
