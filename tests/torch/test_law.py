"""The laws of a conversion, on random modules.

What is replaced starts with the same outputs and gradients, is used and is trained.
What is kept is named once, with a true reason. The user's module stays as it was.
"""

import copy
import random

import keras
import numpy as np
import pytest
import torch

from keras_vaf.models import convert, report
from keras_vaf.torch import VAF
from keras_vaf.torch.modules import tensors
from tests.torch.random_modules import RandomModule

pytestmark = pytest.mark.filterwarnings("ignore:Nothing was replaced")
NIGHT = [pytest.param(i, marks=pytest.mark.nightly("torch")) for i in range(1, 50)]
# They tell of breaks: docs/records/breaks.md.
TELLING = 64, 92, 133, 375, 453, 639, 928, 1306, 2909


def paths_of(module):
    return {path for path, part in module.named_modules() if isinstance(part, VAF)}


def state(module):
    """Return what `convert` must not change: a module, and random numbers."""
    weights = [t.double().numpy() for t in module.state_dict().values()]
    gradients = [p.grad for p in module.parameters()]
    parts = [(id(p), p.training, len(p._forward_hooks)) for p in module.modules()]
    numbers = torch.get_rng_state().numpy(), random.getstate(), np.random.get_state()
    return weights, gradients, parts, numbers


def results(module, x, training, dtype=torch.float64):
    """Return outputs and gradients, also those of what parts return."""
    module, x = copy.deepcopy(module).to(dtype).train(training), x.to(dtype, copy=True)
    calls = []

    def keep(part, inputs, y):
        if y.requires_grad:
            y.retain_grad()
            calls.append((part, y))

    parts = {module.get_submodule(path): path for path in module.activations}
    for part in parts:
        part.register_forward_hook(keep)
    with torch.no_grad():
        for p in module.parameters():
            p.requires_grad_()
            if not p.any():
                p.copy_(torch.linspace(-0.1, 0.1, p.numel()).view(p.shape))
    torch.manual_seed(1)
    outputs = tensors(module(x.requires_grad_()))
    y = [t for t in outputs if t.requires_grad]
    torch.autograd.backward(y, [torch.randn_like(t) for t in y])
    found = {name: p.grad for name, p in module.named_parameters()}
    found |= {parts[part]: y.grad for part, y in calls if y.grad is not None}
    return outputs, {name: g for name, g in found.items() if g is not None and g.any()}


def assert_same(new, old, rough=None):
    """Compare each element up to rounding: of VAFs, and of `old`, given in float32."""
    for a, b, c in zip(new, old, rough or old, strict=True):
        own = max(1e-12, 2**-26 * float((b - c).detach().abs().max()))
        torch.testing.assert_close(a, b, rtol=1e-5, atol=own, equal_nan=True)


def check(seed):
    module, x = RandomModule(seed), torch.randn(5, 8)
    before = state(module)
    converted = convert(module, data=x)
    np.testing.assert_equal(state(module), before)
    changes = report(converted)
    made = {each.layer for each in changes.replaced}
    kept = {each.layer: each.kept for each in changes.kept}
    lines = [*changes.replaced, *changes.kept]
    assert len({*map(str, lines)}) == len(lines)
    assert paths_of(converted) == made and converted.training
    assert changes.deviation <= 1e-5 and changes.error <= 1e-5
    trained, reached = set(), set()
    for training in (True, False):
        old, gradients = results(module, x, training)
        new, others = results(converted, x, training)
        _, rough = results(module, x, training, torch.float32)
        trained |= {path for path in made if f"{path}.weight" in others}
        reached |= gradients.keys()
        names = [n for n in gradients if "." in n and n.split(".")[0] not in made]
        assert_same(new, old)
        assert_same(*([g[n] for n in names] for g in (others, gradients, rough)))
    assert trained == made
    for path in module.activations:
        true = {reason for reason, holds in module.facts_of(path).items() if holds}
        if path in made:
            assert true <= {"the outputs differ without it"}
        elif kept[path].startswith("the outputs have no gradient"):
            assert path not in reached
        else:
            assert any(kept[path].startswith(reason) for reason in true)
    assert not report(convert(converted, data=x)).replaced
    assert convert(module, data=x, inplace=True) is module
    assert paths_of(module) == made


@pytest.mark.parametrize("block", [0, *NIGHT])
def test_random_modules(block):
    keras.utils.set_random_seed(1)  # not that of `convert`
    for seed in [*range(60 * block, 60 * block + 60), *(TELLING if not block else ())]:
        check(seed)
