"""What a process computes in which Triton's interpreter takes the place of a GPU."""

import functools
import sys
from unittest.mock import patch

import torch

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import plain_operators
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.functions_on_torch import vaf_formula
from keras_vaf.ops.gpu import on_torch, plan
from keras_vaf.ops.on_torch import vaf
from keras_vaf.torch import VAF
from tests.ops.gpu import calls
from tests.ops.native.harness import assert_close


def compare(cases, device):
    """Compare calls with float64."""
    for place, g, k, dtype in cases:
        arrays, sizes, parameters = calls.arguments(place, k, dtype)
        d, x = (torch.tensor(a, device=device).reshape(sizes) for a in arrays[:2])
        d, x = (each.to(getattr(torch, dtype)) for each in (d, x))
        *parts, last = (torch.tensor(p, device=device) for p in parameters)
        weight = torch.cat([*parts, last[..., None]], -1)
        weight, axes = (weight[0], ()) if sizes[1] == 1 else (weight, (1,))
        found = [t for u in (None, d) for t in on_torch.launch(u, x, weight, g, axes)]
        rows = found[2].reshape(sizes[1], -1)
        found = *found[:2], *rows[:, :-1].split(k, -1), rows[:, -1]
        assert_close([t.double().cpu().numpy() for t in found], arrays, g, dtype)


def compare_special(device):
    """Compare NaN and infinite numbers with the formula."""
    for g, value in calls.SPECIAL:
        given = calls.special(value)
        d, x, weight = (torch.tensor(each, device=device) for each in given)
        for rows, axes in ((weight[0], ()), (weight, (1,))):
            found, want = both(x, rows, g, axes, d)
            calls.assert_same_kinds(found, want, g)


def both(x, weight, g, axes, upstream, second=False):
    """Return f(x) and its first or second gradients, by the kernels and the formula."""
    form = functools.partial(vaf_formula, g, Layout(x.ndim, axes))
    for run in (lambda *leaves: vaf(*leaves, g, axes)), form:
        leaves = [x.detach().requires_grad_(), weight.detach().requires_grad_()]
        y = run(*leaves)
        found = torch.autograd.grad(y, leaves, upstream, create_graph=second)
        if second:
            found = torch.autograd.grad(found[0].square().sum(), leaves)
        yield [t.detach().cpu() for t in (y, *found)]


def compare_memory(device):
    """Compare tensors whose memory has any order, or gaps, with the formula."""
    whole = torch.randn(6, 10, 4, 3, device=device)
    for x in (
        whole.to(memory_format=torch.channels_last),
        whole[:, ::2],
        whole.permute(3, 1, 2, 0),
        torch._neg_view(whole),
        whole[:1, :1, :1, :1],
    ):
        for axes in ((), (1,), (2,), (1, 2)):
            sizes = [x.shape[axis] for axis in axes]
            weight = torch.randn(7, *sizes, device=device).movedim(0, -1)
            one = torch.ones((), device=device).expand(x.shape)
            for d, second in ((torch.ones_like(x), False), (one, False), (one, True)):
                found, want = both(x, weight, "gelu", axes, d, second)
                torch.testing.assert_close(found, want, rtol=1e-4, atol=1e-4)


def compare_layers(device):
    """Layers and modules launch the kernels, and compute what the formula does."""
    x = torch.randn(3, 5, 6, 7, device=device).to(memory_format=torch.channels_last)
    layers = VAF(unshared=(5,)).to(device), VAF(unshared=(6, 7), axes=(2, 3)).to(device)
    for sharing in ("layer", "channel", "neuron", (2,)):
        layer = VAFActivation(k=2, sharing=sharing, initialization="random")
        layer.build(x.shape)
        layers += (layer,)
    with patch.object(on_torch, "launch", wraps=on_torch.launch) as run:
        for layer in layers:
            leaves = [x.detach().requires_grad_(), *layer.parameters()]
            found = torch.autograd.grad(layer(leaves[0]).square().sum(), leaves)
            with plain_operators():
                want = torch.autograd.grad(layer(leaves[0]).square().sum(), leaves)
            torch.testing.assert_close(found, want, rtol=1e-4, atol=1e-4)
        assert layer(x[:0]).shape == x[:0].shape
    assert run.call_count == 2 * len(layers) - 2  # axes 1 and 3 are not adjacent


def main(device="cpu", cases=calls.FEW):
    torch.manual_seed(0)
    if device == "cpu":  # it passes for a GPU
        on_torch.cannot_run = lambda device: ""
        plan.PROGRAMS = calls.PROGRAMS
    compare_layers(device)
    compare(cases, device)
    compare_special(device)
    compare_memory(device)


if __name__ == "__main__":
    # Triton's interpreter cuts float32 off to bfloat16, and a GPU rounds.
    late = [call for call in calls.NIGHTLY if call[3] != "bfloat16"]
    main(cases=late if "all" in sys.argv else calls.FEW)
