"""The tests that keras-hub has for its backbones, on converted models."""

import pytest
from keras import ops

from keras_vaf.models import convert
from tests.zoo.conversions.zoo import BACKBONES

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.backend("jax", "tensorflow"),
    pytest.mark.filterwarnings("ignore"),
]

# With the policy "bfloat16", a VAF keeps its weights in float32, which the check of
# mixed precision refuses.
LEFT_OUT = {"run_mixed_precision_check": False, "run_quantization_check": False}


def converted(backbone):
    """Return a function that makes a backbone and converts it, in place of a class."""

    def make(**arguments):
        return convert(backbone(**arguments))

    make.__name__ = backbone.__name__
    return make


@pytest.mark.parametrize("name", ["Bert", "DistilBert", "GPT2"])
def test_a_backbone_for_text(name):
    import keras_hub
    from keras_hub.src.tests.test_case import TestCase

    shape = (2, 5)
    names = ("token_ids", "padding_mask", *["segment_ids"] * (name == "Bert"))
    x = {each: ops.ones(shape, "int32") for each in names}
    backbone = getattr(keras_hub.models, f"{name}Backbone")
    arguments = BACKBONES[name]
    width = arguments["hidden_dim"]
    output = (*shape, width)
    if name == "Bert":
        output = {"sequence_output": output, "pooled_output": (2, width)}
    TestCase().run_backbone_test(
        cls=converted(backbone),
        init_kwargs=arguments,
        input_data=x,
        expected_output_shape=output,
        **LEFT_OUT,
    )


def test_a_backbone_for_images():
    import keras_hub
    from keras_hub.src.tests.test_case import TestCase

    TestCase().run_backbone_test(
        cls=converted(keras_hub.models.ViTBackbone),
        init_kwargs=BACKBONES["ViT"],
        input_data=ops.ones((2, 32, 32, 3)),
        expected_output_shape=(2, 17, 16),
        **LEFT_OUT,
    )
