"""On PyTorch each layer is a `torch.nn.Module` like Keras's own layers."""

import inspect

import keras
import numpy as np
import pytest

from keras_vaf import layers
from tests.layers.family import ACTIVATIONS, fresh

pytestmark = pytest.mark.backend("torch")

LAYERS = (*ACTIVATIONS, layers.Maxout(), layers.MLPConv((2,), 1))
each = pytest.mark.parametrize("layer", ACTIVATIONS, ids=lambda layer: layer.name)


def public(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_no_attribute_of_a_module_is_hidden(layer):
    import torch

    of_keras = keras.layers.Layer()
    for name in public(dir(torch.nn.Module())):
        found = inspect.getattr_static(type(layer), name, None)
        assert found is inspect.getattr_static(keras.layers.Layer, name, None), name
    module = public(dir(torch.nn.Module()))
    assert public(vars(layer)) & module <= public(vars(of_keras)) & module


def network(layer):
    import torch

    return torch.nn.Sequential(torch.nn.Linear(3, 3), layer)


@pytest.mark.parametrize("layer", [None, *ACTIVATIONS], ids=lambda x: x and x.name)
def test_parameters_are_those_of_the_weights(layer):
    """As with Keras's own PReLU."""
    import torch

    layer = fresh(layer, sharing="channel") if layer else keras.layers.PReLU()
    layer(torch.ones((2, 3))).sum().backward()
    own = {id(weight.value) for weight in layer.weights}
    assert {id(parameter) for parameter in layer.parameters()} == own
    assert {id(parameter) for _, parameter in layer.named_parameters()} == own
    assert own < {id(parameter) for parameter in network(layer).parameters()}


@pytest.mark.parametrize("sharing", ["layer", "channel", "neuron"])
@each
def test_a_state_is_loaded_into_a_fresh_network(layer, sharing):
    import torch

    x = torch.linspace(-2, 2, 6).reshape(2, 3)
    arguments = {"sharing": sharing, "name": "activation"}
    one, other = (network(fresh(layer, **arguments)) for _ in range(2))
    one(x), other(x)
    with torch.no_grad():
        for parameter in one.parameters():
            parameter += 0.1
    other.load_state_dict(one.state_dict())
    assert torch.equal(other(x), one(x))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
@each
def test_a_network_is_converted_to_another_dtype(layer, sharing, dtype):
    import torch

    layer = fresh(layer, sharing=sharing)  # shared per channel, it has no weights yet
    network = torch.nn.Sequential(torch.nn.Linear(3, 3), layer, torch.nn.Linear(3, 1))
    x = torch.linspace(-2, 2, 6).reshape(2, 3)
    dtype = getattr(torch, dtype)
    for _ in range(2):
        y = network.to(dtype)(x.to(dtype))
        y.sum().backward()
        assert y.dtype == dtype
        assert torch.isfinite(y).all()
        assert network.float()(x).dtype == torch.float32


def saved(activation, x, dtype):
    """Return the dtype of the output, and the bytes of large tensors that are kept."""
    import torch

    kept = {}
    keep = torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.update({t.data_ptr(): t}) or t, lambda t: t
    )
    with torch.autocast("cpu", dtype), keep:
        y = activation(x)
    y.sum().backward()
    large = [t for t in kept.values() if t.numel() >= x.numel()]
    return y.dtype, sum(t.nbytes for t in large)


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("given", ["bfloat16", "float16"])
@pytest.mark.parametrize("kind", [layers.VAFActivation, layers.KAF])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_under_autocast_an_input_in_half_precision_is_kept(sharing, kind, given, built):
    """As GELU does."""
    import torch

    dtype = getattr(torch, given)
    x = torch.randn(64, 32).to(dtype).requires_grad_()
    layer = kind(sharing=sharing)
    if built:
        layer.build(x.shape)
    assert saved(layer, x, dtype) == saved(torch.nn.GELU(), x, dtype)
    assert x.grad.dtype == dtype
    assert {each.dtype for each in layer.weights} == {"float32"}
    assert {each.value.grad.dtype for each in layer.trainable_variables} == {
        torch.float32
    }
    assert layer.autocast


def test_other_inputs_are_cast_as_keras_does():
    import torch

    x, layer = torch.randn(4, 3), layers.VAFActivation()
    assert layer(x.bfloat16()).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.float32


class TestCall:
    """A call without Keras's checks, where these would change nothing."""

    @pytest.fixture
    def calls(self, monkeypatch):
        """The inputs that Keras checks, of layers that are already built."""
        seen = []
        call = keras.layers.Layer.__call__

        def checked(layer, *args, **kwargs):
            seen.append(args)
            return call(layer, *args, **kwargs)

        monkeypatch.setattr(keras.layers.Layer, "__call__", checked)
        return seen

    @pytest.fixture
    def vaf(self):
        layer = layers.VAFActivation(initialization="tanh")
        layer.build((None, 3))
        return layer

    def test_the_values_are_those_of_the_function(self, vaf, calls):
        import torch

        x = torch.linspace(-2, 2, 6).reshape(2, 3)
        for y in (vaf(x), vaf(x, training=True)):
            np.testing.assert_allclose(
                y.detach(), vaf.function(x.numpy()), rtol=1e-6, atol=1e-6
            )
        assert not calls

    def test_hooks_of_torch_run(self, vaf, calls):
        import torch

        seen = []
        vaf.register_forward_hook(lambda layer, inputs, y: seen.append(y))
        y = vaf(torch.ones(2, 3))
        assert not calls and len(seen) == 1 and seen[0] is y

    def test_keras_sees_every_other_call(self, vaf, calls):
        import torch

        masked = keras.layers.Masking()(torch.zeros(2, 4, 3))
        assert not vaf(masked)._keras_mask.any()
        assert vaf(np.ones((2, 3))).dtype == torch.float32
        assert vaf(torch.ones(2, 3, dtype=torch.float64)).dtype == torch.float32
        assert isinstance(vaf(keras.Input((3,))), keras.KerasTensor)
        with pytest.raises(ValueError, match="min_ndim=2"):
            vaf(torch.ones(3))
        penalized = layers.VAFActivation(activity_regularizer="l2")
        for _ in range(2):
            penalized(torch.ones(2, 3))
        assert len(penalized.losses) == 1
        channel = layers.VAFActivation(sharing="channel")
        channel(torch.ones(2, 3))
        with pytest.raises(ValueError, match="axis"):
            channel(torch.ones(2, 4))
