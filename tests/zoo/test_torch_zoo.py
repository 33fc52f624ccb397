"""Models of timm, transformers and torchvision are converted exactly.

`pip install -e '.[test,torch-zoo]' && KERAS_BACKEND=torch pytest -m zoo
tests/zoo/test_torch_zoo.py` runs these tests. No weights are downloaded.
"""

import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, freeze, report

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.backend("torch"),
    pytest.mark.needs("timm", "transformers"),
    pytest.mark.filterwarnings("ignore"),
]

# The number of VAFs of each model.
TIMM = {
    "resnet18": 17,
    "vit_tiny_patch16_224": 12,
    "convnext_atto": 12,
    "efficientnet_b0": 49,
    "mobilenetv3_small_050": 20,
}
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}


def timm_model(name):
    import timm
    import torch

    return timm.create_model(name).eval(), torch.randn(1, 3, 224, 224)


def transformers_model(name):
    import torch
    import transformers

    sizes = {"gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2}}.get(name, SMALL)
    if name != "gpt2":
        sizes = {**sizes, "intermediate_size": 32}
    config = transformers.AutoConfig.for_model(name, vocab_size=50, **sizes)
    config.bos_token_id = config.eos_token_id = config.pad_token_id = 0
    model = transformers.AutoModel.from_config(config).eval()
    return model, torch.arange(8)[None]


def outputs(model, x):
    import torch

    with torch.no_grad():
        y = model(x)
    return y if isinstance(y, torch.Tensor) else y.last_hidden_state


def check(model, x, count):
    """Return the converted model; its outputs are those of the model at the start."""
    import torch

    torch.manual_seed(0)
    expected = outputs(model, x)
    converted = convert(model)
    largest = expected.abs().max()
    difference = (outputs(converted, x) - expected).abs().max()
    assert difference <= 1e-6 * largest
    vafs = [part for part in converted.modules() if isinstance(part, VAFActivation)]
    assert len(vafs) == len(report(converted).replaced) == count
    frozen = freeze(converted)
    assert (outputs(frozen, x) - expected).abs().max() <= 1e-5 * largest
    return converted


@pytest.mark.parametrize("name", TIMM)
def test_a_model_of_timm(name):
    check(*timm_model(name), TIMM[name])


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "mistral", "roberta"])
def test_a_model_of_transformers(name):
    check(*transformers_model(name), 3 if name in ("bert", "roberta") else 2)
