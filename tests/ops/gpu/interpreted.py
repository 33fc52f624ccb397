"""What a process computes in which Triton's interpreter takes the place of a GPU."""

import functools
import sys
from unittest.mock import patch

import numpy as np
import torch

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import plain_operators
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.gpu import on_torch
from keras_vaf.ops.on_torch import split
from keras_vaf.torch import VAF
from keras_vaf.torch.functions import FUNCTIONS
from keras_vaf.torch.vaf import formula
from tests.ops.gpu import calls
from tests.ops.native.harness import assert_close


def plain(g, axes, x, weight):
    """Return f(x) in PyTorch's operators."""
    return formula(FUNCTIONS[g], Layout(x.ndim, axes), x, *split(weight))


def numbers(tensor):
    return tensor.detach().double().cpu().numpy()


def compare(cases, device):
    """Compare calls with float64."""
    for place, g, k, dtype in cases:
        arrays, sizes, parameters = calls.arguments(place, k, dtype)
        d, x = (torch.tensor(a, device=device).reshape(sizes) for a in arrays[:2])
        d, x = (each.to(getattr(torch, dtype)) for each in (d, x))
        *parts, last = (torch.tensor(p, device=device) for p in parameters)
        weight = torch.cat([*parts, last[..., None]], -1)
        weight, axes = (weight[0], ()) if sizes[1] == 1 else (weight, (1,))
        found = [t for u in (None, d) for t in on_torch.run(u, x, weight, g, axes)]
        y, d_x, sums = found
        found = [y, d_x, *split(sums.reshape(sizes[1], -1))]
        assert_close([*map(numbers, found)], arrays, g, dtype)


def compare_special(device):
    """Compare NaN and infinite numbers with the formula."""
    for g, value in calls.SPECIAL:
        for channels in (1, 5):
            d, x, weight = (
                torch.tensor(each, device=device)
                for each in calls.special(value, channels)
            )
            weight, axes = (weight[0], ()) if channels == 1 else (weight, (1,))
            found = gradients(x, weight, g, axes, d, kernels=True)
            want = gradients(x, weight, g, axes, d, kernels=False)
            calls.assert_same_kinds(found, want, g)


def gradients(x, weight, g, axes, upstream, kernels, second=False):
    """Return f(x) and its first or second gradients, by the kernels or the formula."""
    leaves = [x.detach().requires_grad_(), weight.detach().requires_grad_()]
    form = functools.partial(plain, g, axes)
    y = on_torch.apply(*leaves, g, axes, form) if kernels else form(*leaves)
    found = torch.autograd.grad(y, leaves, upstream, create_graph=second)
    if second:
        found = torch.autograd.grad(found[0].square().sum(), leaves)
    return [numbers(t) for t in (y, *found)]


def compare_memory(device):
    """Compare inputs whose memory has any order, or gaps, with the formula."""
    whole = torch.randn(6, 10, 4, 3, device=device)
    orders = {
        "channels last": whole.to(memory_format=torch.channels_last),
        "gaps": whole[:, ::2],
        "turned": whole.permute(3, 1, 2, 0),
        "one number": whole[:1, :1, :1, :1],
    }
    for name, x in orders.items():
        for axes in ((), (1,), (2,), (1, 2)):
            sizes = [x.shape[axis] for axis in axes]
            weight = torch.randn(*sizes, 7, device=device)
            one = torch.ones((), device=device)
            dense = torch.ones_like(x)
            for upstream, second in ((dense, False), (one, False), (one, True)):
                given = x, weight, "gelu", axes, upstream.expand(x.shape)
                found, want = (gradients(*given, way, second) for way in (True, False))
                for one, other in zip(found, want, strict=True):
                    assert np.allclose(one, other, 1e-4, 1e-4), (name, axes)


def compare_layers(device):
    """Layers and modules launch the kernels, and compute what the formula does."""
    launched = []
    run = on_torch.run

    def counted(upstream, *arguments):
        launched.append(upstream)
        return run(upstream, *arguments)

    x = torch.randn(3, 5, 6, 7, device=device).to(memory_format=torch.channels_last)
    layers = [
        VAFActivation(k=2, g="gelu", sharing=sharing, initialization="random")
        for sharing in ("layer", "channel", "neuron", (2,))
    ]
    for layer in layers:
        layer.build(x.shape)
    modules = VAF(unshared=(5,)), VAF(unshared=(6, 7), axes=(2, 3))
    layers += [module.to(device) for module in modules]
    with patch.object(on_torch, "run", counted):
        for layer in layers:
            leaves = [x.detach().requires_grad_(), *layer.parameters()]
            found = torch.autograd.grad(layer(leaves[0]).square().sum(), leaves)
            with plain_operators():
                want = torch.autograd.grad(layer(leaves[0]).square().sum(), leaves)
            torch.testing.assert_close(found, want, rtol=1e-4, atol=1e-4)
    assert len(launched) == 2 * len(layers) - 2  # axes 1 and 3 are not adjacent


def main(device="cpu", cases=calls.FEW):
    torch.manual_seed(0)
    if device == "cpu":  # it passes for a GPU
        on_torch.on_gpu, on_torch.cannot_run = (lambda x: True), (lambda device: "")
        torch.cuda.is_current_stream_capturing = lambda: False
    compare_layers(device)
    compare(cases, device)
    compare_special(device)
    compare_memory(device)


if __name__ == "__main__":
    main(cases=calls.INTERPRETED if "all" in sys.argv else calls.FEW)
