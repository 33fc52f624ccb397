"""Models of timm and transformers are converted exactly.

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
    "resnet18": ({"relu": 17}, {}, 0.0),
    "vit_tiny_patch16_224": ({"gelu": 12}, {}, 1e-6),
    "convnext_atto": ({"gelu": 12}, {}, 1e-6),
    "efficientnet_b0": ({"silu": 49}, {"sigmoid": 16}, 1e-6),
    "mobilenetv3_small_050": ({"hard_silu": 19, "relu": 14}, {"hard_sigmoid": 9}, 1e-6),
}
TRANSFORMERS = {
    "gpt2": {"approximate_gelu": 2},
    "bert": {"gelu": 2},
    "roberta": {"gelu": 2},
    "llama": {"silu": 2},
    "mistral": {"silu": 2},
}


def outputs(model, x):
    import torch

    with torch.no_grad():
        y = model(x)
    return y if isinstance(y, torch.Tensor) else y.last_hidden_state


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
