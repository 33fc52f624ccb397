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
from tests.torch.hosts import CASES, TOKENS, X, decoder_layer, encoder_layer, trained

pytestmark = pytest.mark.filterwarnings("ignore:Nothing was replaced")
KINDS = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.PReLU)


def paths_of(module, kinds=VAF):
    parts = module.named_modules(remove_duplicate=False)
    return {path for path, part in parts if isinstance(part, kinds)}


def assert_equal(a, b, limit=1e-5):
    for s, t in zip(a, b, strict=True):
        torch.testing.assert_close(s, t, rtol=limit, atol=limit)


@pytest.mark.parametrize("name", CASES)
def test_with_data(name):
    module, wanted, _, data, _ = CASES[name]
    expected = run(module.eval(), data)
    converted = convert(module, data=data)
    assert paths_of(converted) == set(wanted.split())
    changes = report(converted)
    assert changes.deviation <= 1e-5 and changes.error <= 1e-5
    assert_equal(run(converted, data), expected)
    replaced = {each.layer for each in changes.replaced}
    named = replaced | {each.layer for each in changes.kept}
    inside = {path for path, part in module.named_modules() if isinstance(part, KINDS)}
    assert replaced <= paths_of(converted)
    assert {path for path in inside if "parametrizations" not in path} <= named
    # Every mode and the frozen module compute the same.
    if replaced:
        wanted = [t.detach() for t in run(trained(converted), data)]
        with torch.no_grad():
            for same in (converted, copy.deepcopy(converted), freeze(converted)):
                assert_equal(run(same, data), wanted)
        if name != "physics":  # it needs gradients
            with torch.inference_mode():
                assert_equal(run(converted, data), wanted)


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


def test_the_module_of_the_user_stays_as_it_was():
    def numbers():
        return torch.get_rng_state().tolist(), random.getstate(), *np.random.get_state()

    module = nn.Sequential(
        *(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout()),
        nn.Linear(8, 2),
    )
    state, before, data = copy.deepcopy(module.state_dict()), numbers(), X.clone()
    with torch.no_grad():
        converted = convert(module, data=data)
    assert paths_of(converted) == {"2"} and type(module[2]) is nn.ReLU
    assert all(torch.equal(state[n], t) for n, t in module.state_dict().items())
    np.testing.assert_equal(numbers(), before)
    assert module.training and converted.training and torch.equal(data, X)
    assert not any(part._forward_hooks for part in module.modules())
    assert all(p.grad is None for p in (*module.parameters(), *converted.parameters()))
    assert convert(module, data=X, inplace=True) is module


def test_a_mask_of_padding():
    layers = nn.TransformerEncoder(encoder_layer(nn.GELU()), 2)
    mask = torch.tensor([[False] * 5, [False] * 4 + [True]])
    data = {"src": TOKENS, "src_key_padding_mask": mask}
    module = trained(convert(layers, data=data))
    y = module.train()(**data)
    with torch.no_grad():
        assert_equal([module.eval()(**data)[~mask]], [y[~mask]])


def test_copies_of_decoder_layers_keep_their_vaf():
    module = trained(convert(decoder_layer(nn.GELU())))
    wanted = module(TOKENS, TOKENS)
    averaged = torch.optim.swa_utils.AveragedModel(module)
    again = copy.deepcopy(copy.deepcopy(module))
    for same in (again, freeze(module), averaged):
        torch.testing.assert_close(same(TOKENS, TOKENS), wanted)
    assert len([*again.parameters()]) == len([*module.parameters()])


@pytest.mark.parametrize("activation", (nn.GELU(), nn.ELU(0.5), nn.Mish()), ids=str)
def test_a_conversion_is_repeated_without_effect(activation):
    module = nn.Sequential(nn.Linear(8, 8), activation, nn.Linear(8, 8))
    for data in (None, X):
        once = convert(module, data=data)
        twice = convert(once, data=data)
        assert paths_of(once) == paths_of(twice) == {"1"}
        assert torch.equal(once(X), twice(X))
        assert not report(twice).replaced and not report(twice).kept
    assert paths_of(convert(VAF(g=activation))) == {""}


def test_a_training_step_of_half_precision():
    module, *_, data, _ = CASES["convolutions"]
    data = data.to(torch.bfloat16)
    converted = convert(copy.deepcopy(module).to(torch.bfloat16), data=data)
    assert converted[2].weight.dtype == torch.bfloat16
    converted(data).sum().backward()
    assert all(p.grad is not None for p in converted.parameters())
