"""Under `torch.autocast` a layer keeps an input in half precision, as GELU does."""

import pytest

from keras_vaf.layers import KAF, VAFActivation

pytestmark = pytest.mark.backend("torch")


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
@pytest.mark.parametrize("kind", [VAFActivation, KAF])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_an_input_in_half_precision_is_kept(sharing, kind, given, built):
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

    x, layer = torch.randn(4, 3), VAFActivation()
    assert layer(x.bfloat16()).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.float32
