"""Models of timm and transformers are converted exactly, or made with VAFs.

`pip install -e '.[test,torch-zoo]' && KERAS_BACKEND=torch pytest -n 0 -m zoo
tests/zoo/test_torch_zoo.py` runs these tests. No weights are downloaded.
"""

import collections

import pytest

from keras_vaf.models import convert, freeze, report

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.backend("torch"),
    pytest.mark.needs("timm", "transformers"),
    pytest.mark.filterwarnings("ignore"),
]

# The activations of each model by kind, those that are kept, and the largest deviation.
TIMM = {
    "vit_tiny_patch16_224": ({"gelu": 12}, {}, 1e-6),
    "convnext_atto": ({"gelu": 12}, {}, 1e-6),
    "efficientnet_b0": ({"silu": 49}, {"sigmoid": 16}, 1e-6),
    "mobilenetv3_small_050": ({"hard_silu": 19, "relu": 14}, {"hard_sigmoid": 9}, 1e-6),
}
# The VAFs of models that take a class of activations.
ACT_LAYER = (
    *(("resnet18", 17), ("resnet50", 49), ("mobilenetv3_small_050", 19)),
    *(("convnext_atto", 12), ("vit_tiny_patch16_224", 12), ("efficientnet_b0", 49)),
    *(("regnety_002", 53), ("mixer_s32_224", 16), ("gmlp_ti16_224", 30)),
)
TRANSFORMERS = {
    "gpt2": {"approximate_gelu": 2},
    **{name: {"gelu": 2} for name in ("bert", "roberta")},
    **{name: {"silu": 2} for name in ("llama", "mistral")},
}


def outputs(model, x):
    import torch

    with torch.no_grad():
        return getattr(y := model(x), "last_hidden_state", y)


def check(model, x, replaced, kept, limit):
    """Check what is replaced, and the outputs of the converted and frozen models."""
    expected = outputs(model, x)
    converted = convert(model, data=x)
    changes = report(converted)
    assert collections.Counter(each.before for each in changes.replaced) == replaced
    modules = (each for each in changes.kept if "the code of" not in each.kept)
    assert collections.Counter(each.before for each in modules) == kept
    for same in (converted, freeze(converted)):
        difference = (outputs(same, x) - expected).abs().max()
        assert difference <= limit * expected.abs().max()


@pytest.mark.parametrize("name", TIMM)
def test_a_model_of_timm(name, torchvision):
    import timm
    import torch

    check(timm.create_model(name).eval(), torch.randn(1, 3, 224, 224), *TIMM[name])


@pytest.mark.parametrize("name, count", ACT_LAYER)
def test_a_model_of_timm_takes_vafs(name, count, torchvision):
    import timm
    import torch

    from keras_vaf.torch import VAF

    model = timm.create_model(name, act_layer=VAF)
    for p in model.parameters():  # zeros hide gradients
        if not p.any():
            torch.nn.init.normal_(p, std=0.1)
    model(torch.randn(2, 3, 224, 224)).square().sum().backward()
    found = [part for part in model.modules() if isinstance(part, VAF)]
    assert len(found) == count and all(vaf.weight.grad.any() for vaf in found)


def test_programs_of_fx(torchvision):
    import torch
    from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx
    from torchvision.models.feature_extraction import create_feature_extractor

    from keras_vaf.torch import VAF

    x, outputs = torch.randn(2, 3, 64, 64), []
    model = convert(torchvision.models.resnet18().eval(), data=x)
    extract = create_feature_extractor(model, {"layer1.0.relu": "a"})
    prepared = quantize_fx.prepare_fx(model, get_default_qconfig_mapping(), (x,))
    found = prepared(x), extract(x)["a"]
    model.layer1[0].relu.register_forward_hook(lambda m, i, y: outputs.append(y))
    expected = model(x), outputs[0]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert sum(isinstance(part, VAF) for part in prepared.modules()) == 9


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_model_of_transformers(name):
    import torch
    import transformers

    config = transformers.AutoConfig.for_model(
        name,
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        **{} if name == "gpt2" else {"intermediate_size": 32},
        **{"num_key_value_heads": 2} if name == "mistral" else {},
    )
    model = transformers.AutoModel.from_config(config).eval()
    kept = {"tanh": 1} if "bert" in name else {}  # of the pooler
    check(model, torch.arange(2, 10)[None], TRANSFORMERS[name], kept, 1e-6)
