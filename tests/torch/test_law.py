"""The law of a conversion, on modules that use their activations in many ways.

What is replaced starts with the same outputs, is used in every mode and is trained.
What is kept is named with a reason. The user's module stays as it was.
"""

import copy
import random

import numpy as np
import pytest
import torch
from torch import nn

from keras_vaf.models import convert, freeze, report
from keras_vaf.torch import VAF
from keras_vaf.torch.recording import run
from tests.torch.hosts import CASES, trained

pytestmark = pytest.mark.filterwarnings("ignore:Nothing was replaced")
KINDS = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.PReLU)


def paths_of(module, kinds=VAF):
    parts = module.named_modules(remove_duplicate=False)
    return {path for path, part in parts if isinstance(part, kinds)}


def assert_equal(a, b, limit=1e-5):
    for s, t in zip(a, b, strict=True):
        torch.testing.assert_close(s, t, rtol=limit, atol=limit)


def state(module):
    """Return what `convert` must not change: a module, and random numbers."""
    weights = [t.double().numpy() for t in module.state_dict().values()]
    gradients = [p.grad for p in module.parameters()]
    parts = [(part.training, len(part._forward_hooks)) for part in module.modules()]
    numbers = torch.get_rng_state().numpy(), random.getstate(), np.random.get_state()
    return weights, gradients, parts, numbers


@pytest.mark.parametrize("name", CASES)
def test_with_data(name):
    module, wanted, _, data, _ = CASES[name]
    expected = run(module.eval(), data)
    before = state(module.train())
    converted = convert(module, data=data)
    np.testing.assert_equal(state(module), before)
    assert_equal(run(module.eval(), data), expected, 0)
    assert converted.training
    assert_equal(run(converted.eval(), data), expected)
    assert paths_of(converted) == set(wanted.split())
    changes = report(converted)
    assert changes.deviation <= 1e-5 and changes.error <= 1e-5
    replaced = {each.layer for each in changes.replaced}
    named = replaced | {each.layer for each in changes.kept}
    inside = {path for path, part in module.named_modules() if isinstance(part, KINDS)}
    assert replaced <= paths_of(converted)
    assert {path for path in inside if "parametrizations" not in path} <= named
    if replaced:
        moved = [t.detach() for t in run(trained(converted), data)]
        copied, frozen = copy.deepcopy(copy.deepcopy(converted)), freeze(converted)
        with torch.no_grad():
            for same in (converted, copied, frozen):
                assert_equal(run(same, data), moved)
        if name != "physics":  # it needs gradients
            with torch.inference_mode():
                assert_equal(run(converted, data), moved)
        vafs = [part for part in frozen.modules() if isinstance(part, VAF)]
        parameters = [*copied.parameters()]
        assert len(parameters) == len([*frozen.parameters()]) + len(vafs)
        assert len({p.dtype for p in parameters}) == 1


@pytest.mark.parametrize("name", CASES)
def test_without_data(name):
    module, wanted, without, data, said = CASES[name]
    expected = run(module.eval(), data)
    converted = convert(module)
    assert paths_of(converted) == set((wanted if without is None else without).split())
    text = report(converted).details
    assert text.endswith("give `data` to check them") and said in text
    if name != "in_place":  # whose outputs change, as the report says
        assert_equal(run(converted, data), expected)
