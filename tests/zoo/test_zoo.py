"""Models of other packages are converted, trained, saved, loaded and frozen.

`pip install -e '.[test,zoo]' && pytest -m zoo tests/zoo` runs these tests.
"""

import pytest

from keras_vaf.models import convert, freeze
from tests.zoo.conversions.stages import examine, inputs_of
from tests.zoo.conversions.zoo import build

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.backend("jax", "tensorflow"),
    pytest.mark.filterwarnings("ignore"),
]

# Their layers have no complete configuration, or no argument for their activation.
NOT_CONVERTED = ("Bloom", "Llama", "ViT")


FEED_FORWARD = {
    **dict.fromkeys(("Bert", "DistilBert", "Electra", "GPT2", "Mistral", "OPT"), 2),
    **dict.fromkeys(("Roberta", "GPT2CausalLM"), 2),
    "Whisper": 6,
    "BertTextClassifier": 3,
}


@pytest.mark.parametrize("name, feed_forward", FEED_FORWARD.items())
def test_a_model_of_keras_hub(name, feed_forward, tmp_path):
    result = examine(f"keras-hub/{name}", tmp_path)
    assert result["replaced"] == result["reported"] == feed_forward
    assert result["deviation"] < 1e-6
    assert result["changed"] == feed_forward
    assert result["reloaded"] < 1e-5
    assert result["frozen"] < 1e-5


@pytest.mark.parametrize("name", NOT_CONVERTED)
def test_a_layer_without_a_complete_configuration_is_named(name):
    with pytest.raises(ValueError, match=r"cannot be copied|Nothing to replace"):
        convert(build(f"keras-hub/{name}"))


def test_an_activation_that_its_layer_never_calls_is_not_frozen():
    """Mixtral's experts call a function that they were built with."""
    model = build("keras-hub/Mixtral")
    with pytest.raises(ValueError, match="has never called it"):
        freeze(convert(model), data=inputs_of(model))
