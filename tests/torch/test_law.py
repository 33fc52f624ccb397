"""The law of a conversion, on modules that use their activations in many ways.

What is replaced starts with the same outputs, is used in every mode and is trained.
What is kept is named with a reason. The user's module stays as it was.
"""

import copy
import random

import keras
import numpy as np
import pytest

if keras.backend.backend() != "torch":
    # TensorFlow and PyTorch in one process may end in a segmentation fault.
    pytest.skip("These tests need PyTorch as the backend.", allow_module_level=True)

import torch
from torch import nn

from keras_vaf.models import convert, freeze, report
from keras_vaf.torch import VAF
from keras_vaf.torch.recording import run
from tests.torch.hosts import CASES, TOKENS, X, decoder_layer, encoder_layer

pytestmark = pytest.mark.filterwarnings("ignore:Nothing was replaced")
# Without data their outputs change, and the report names them.
IN_PLACE = {"in_place"}


def paths_of(module):
    parts = module.named_modules(remove_duplicate=False)
    return {path for path, part in parts if isinstance(part, VAF)}


def move(module):
    """Change all VAFs, as training does."""
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, VAF):
                part.weight.add_(torch.randn(part.weight.shape) * 0.2)


def assert_equal(a, b, limit=1e-5):
    for s, t in zip(a, b, strict=True):
        torch.testing.assert_close(s, t, rtol=limit, atol=limit)


@pytest.fixture(params=CASES)
def case(request):
    torch.manual_seed(1)
    return CASES[request.param], CASES[request.param].make().eval(), request.param


def test_with_data(case):
    case, module, name = case
    expected = run(module, case.data)
    converted = convert(module, data=case.data)
    assert paths_of(converted) == set(case.wanted.split())
    changes = report(converted)
    assert {each.layer for each in changes.replaced} <= paths_of(converted)
    assert changes.deviation <= 1e-5 and changes.error <= 1e-5
    assert_equal(run(converted, case.data), expected)
    parts = dict(module.named_modules())
    kinds = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.PReLU)
    activations = {path for path, part in parts.items() if isinstance(part, kinds)}
    inside = {path for path in activations if "parametrizations" not in path}
    named = {each.layer for each in (*changes.replaced, *changes.kept)}
    assert inside <= named
    # Every mode and the frozen module compute the same.
    if not paths_of(converted):
        return
    move(converted)
    wanted = [t.detach() for t in run(converted, case.data)]
    with torch.no_grad():
        assert_equal(run(converted, case.data), wanted)
        assert_equal(run(copy.deepcopy(converted), case.data), wanted)
        assert_equal(run(freeze(converted), case.data), wanted)
    if name != "physics":  # it needs gradients
        with torch.inference_mode():
            assert_equal(run(converted, case.data), wanted)


def test_without_data(case):
    case, module, name = case
    expected = run(module, case.data)
    converted = convert(module)
    wanted = case.wanted if case.without is None else case.without
    assert paths_of(converted) == set(wanted.split())
    text = report(converted).details
    assert text.endswith("give `data` to check them") and case.said in text
    if name not in IN_PLACE:
        assert_equal(run(converted, case.data), expected)


def test_the_module_of_the_user_stays_as_it_was():
    module = nn.Sequential(
        *(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout()),
        nn.Linear(8, 2),
    )
    state = copy.deepcopy(module.state_dict())
    numbers = torch.get_rng_state(), random.getstate(), np.random.get_state()[1]
    data = X.clone()
    with torch.no_grad():
        converted = convert(module, data=data)
    assert paths_of(converted) == {"2"}
    assert all(torch.equal(state[n], t) for n, t in module.state_dict().items())
    after = torch.get_rng_state(), random.getstate(), np.random.get_state()[1]
    assert torch.equal(numbers[0], after[0]) and numbers[1] == after[1]
    assert np.array_equal(numbers[2], after[2])
    assert module.training and converted.training and torch.equal(data, X)
    assert not any(part._forward_hooks for part in module.modules())
    assert all(p.grad is None for p in (*module.parameters(), *converted.parameters()))
    assert type(module[2]) is nn.ReLU
    assert convert(module, data=X, inplace=True) is module


def test_a_mask_of_padding():
    layers = nn.TransformerEncoder(encoder_layer(nn.GELU()), 2)
    mask = torch.tensor([[False] * 5, [False] * 4 + [True]])
    module = convert(layers, data={"src": TOKENS, "src_key_padding_mask": mask})
    move(module)
    y = module.train()(TOKENS, src_key_padding_mask=mask)
    with torch.no_grad():
        same = module.eval()(TOKENS, src_key_padding_mask=mask)
    torch.testing.assert_close(same[~mask], y[~mask], rtol=1e-5, atol=1e-5)


def test_copies_of_decoder_layers_keep_their_vaf():
    module = convert(decoder_layer(nn.GELU()))
    move(module)
    wanted = module(TOKENS, TOKENS)
    averaged = torch.optim.swa_utils.AveragedModel(module)
    frozen = freeze(module)
    for same in (copy.deepcopy(copy.deepcopy(module)), frozen, averaged):
        torch.testing.assert_close(same(TOKENS, TOKENS), wanted)
    assert len([*copy.deepcopy(module).parameters()]) == len([*module.parameters()])


@pytest.mark.parametrize("activation", (nn.GELU(), nn.ELU(0.5), nn.Mish()), ids=str)
def test_a_conversion_is_repeated_without_effect(activation):
    module = nn.Sequential(nn.Linear(8, 8), activation, nn.Linear(8, 8))
    for data in (None, X):
        once = convert(module, data=data)
        twice = convert(once, data=data)
        assert paths_of(once) == paths_of(twice) == {"1"}
        assert torch.equal(once(X), twice(X))
        assert not report(twice).replaced and not report(twice).kept
    vaf = VAF(g=nn.ELU(0.5))
    assert paths_of(convert(vaf)) == {""}


def test_a_training_step_of_half_precision():
    module = CASES["convolutions"].make().to(torch.bfloat16)
    data = CASES["convolutions"].data.to(torch.bfloat16)
    converted = convert(module, data=data)
    assert converted[2].weight.dtype == torch.bfloat16
    converted(data).sum().backward()
    assert all(p.grad is not None for p in converted.parameters())
