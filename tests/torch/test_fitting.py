"""`convert` of a module of PyTorch with g and data: exact first, then fitted."""

import numpy as np
import pytest
import torch
from torch import nn

from keras_vaf.models import convert, report
from keras_vaf.torch import VAF

X = torch.randn(96, 8, generator=torch.Generator().manual_seed(0))
pytestmark = pytest.mark.filterwarnings("ignore:.*far from the old ones")


def network(act):
    torch.manual_seed(0)
    parts = nn.Linear(8, 16), act, nn.Linear(16, 3), nn.Sigmoid()
    return nn.Sequential(*parts)


@pytest.mark.parametrize("act", [nn.ReLU(), nn.GELU(), nn.Mish(), nn.PReLU(16)])
@pytest.mark.parametrize("g, k", [("silu", 3), ("relu", 5), (torch.sin, 2)])
def test_another_g_is_fitted_to_the_inputs(act, g, k):
    module = network(act)
    for weight in act.parameters():
        weight.data.copy_(torch.linspace(0, 1, 16))
    made = convert(module, data=X, g=g, k=k)
    (line,), (kept,) = report(made).replaced, report(made).kept
    assert isinstance(made[1], VAF) and made[1].k == k
    assert made[1].g == getattr(g, "__name__", g)  # known functions have names
    assert kept.kept == "it shapes an output of the model"
    with torch.no_grad():
        h = module[0](X)
        errors = (made[1](h) - module[1](h)).numpy()
        gap = float((made(X) - module(X)).abs().max())
    axis = 0 if isinstance(act, nn.PReLU) else None
    rms = np.max(np.sqrt(np.mean(errors**2, axis)))
    assert line.rms == pytest.approx(rms, rel=1e-3, abs=1e-6) and rms < 0.1
    assert line.error == pytest.approx(np.max(np.abs(errors)), rel=1e-3, abs=1e-6)
    assert report(made).deviation == pytest.approx(gap, rel=1e-3, abs=1e-6)


def test_each_channel_has_its_own_inputs():
    module = network(nn.GELU())
    layer, channel = (
        convert(module, data=X, g="relu", k=3, sharing=sharing)
        for sharing in ("layer", "channel")
    )
    shares = [report(made).replaced[0].relative for made in (layer, channel)]
    assert shares[1] < 2 * shares[0]
    assert channel[1].weight.shape == (16, 10)


def test_an_error_leaves_the_module_as_it_was():
    before = [*(module := network(nn.Hardtanh()))]
    with pytest.raises(ValueError, match=r"'1': .*expected k >= 2\. Received: k=1"):
        convert(module, data=X, g="relu", k=1, inplace=True)
    assert all(new is old for new, old in zip(module, before, strict=True))
