"""`build` makes models of other packages, small ones and without trained weights."""

import importlib
from typing import Any

import keras

_SIZES = {"num_layers": 2, "hidden_dim": 16, "intermediate_dim": 32}
_TEXT = {**_SIZES, "vocabulary_size": 64, "num_heads": 2}
_HEADS = {"num_query_heads": 4, "num_key_value_heads": 2}
_GROUPED = {**_SIZES, **_HEADS, "vocabulary_size": 64}
_IMAGE = {"image_shape": (32, 32, 3)}
_PATCHES = {
    **_IMAGE,
    "patch_size": 8,
    "num_layers": 2,
    "num_heads": 2,
    "hidden_dim": 16,
}

# Arguments of the backbones of keras-hub, all of them small.
BACKBONES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("Bert", "Roberta", "DistilBert", "GPT2", "T5", "OPT"), _TEXT),
    **dict.fromkeys(("Bart", "Bloom", "DebertaV3", "GPTNeoX"), _TEXT),
    **dict.fromkeys(("XLMRoberta", "XLNet"), _TEXT),
    **dict.fromkeys(("Llama", "Mistral", "Llama3", "Phi3", "Qwen"), _GROUPED),
    "ViT": {**_PATCHES, "mlp_dim": 32},
    "Whisper": {
        **_TEXT,
        "max_encoder_sequence_length": 16,
        "max_decoder_sequence_length": 8,
    },
    "Electra": {**_SIZES, "num_heads": 2, "vocab_size": 64, "embedding_dim": 16},
    "Gemma": {**_GROUPED, "head_dim": 8},
    "Albert": {**_TEXT, "embedding_dim": 16},
    "DeiT": {**_PATCHES, "intermediate_dim": 32},
    "Falcon": {**_SIZES, "vocabulary_size": 64, "num_attention_heads": 2},
    "FNet": {**_SIZES, "vocabulary_size": 64},
    "MiT": {
        **_IMAGE,
        "layerwise_depths": [1, 1],
        "num_layers": 2,
        "layerwise_num_heads": [1, 2],
        "layerwise_sr_ratios": [2, 1],
        "max_drop_path_rate": 0.1,
        "layerwise_patch_sizes": [7, 3],
        "layerwise_strides": [4, 2],
        "hidden_dims": [8, 16],
    },
    "Mixtral": {**_GROUPED, "num_experts": 2},
    "Qwen3": {**_GROUPED, "head_dim": 8},
    "EfficientNet": {
        "input_shape": (32, 32, 3),
        "stackwise_kernel_sizes": [3, 3],
        "stackwise_num_repeats": [1, 2],
        "stackwise_input_filters": [8, 8],
        "stackwise_output_filters": [8, 16],
        "stackwise_expansion_ratios": [1, 4],
        "stackwise_strides": [1, 2],
        "stackwise_squeeze_and_excite_ratios": [0.25, 0.25],
        "stackwise_block_types": ["v1", "v1"],
        "width_coefficient": 1.0,
        "depth_coefficient": 1.0,
        "stackwise_force_input_filters": [0, 0],
        "stackwise_nores_option": [False, False],
    },
    "ResNet": {
        **_IMAGE,
        "input_conv_filters": [64],
        "input_conv_kernel_sizes": [3],
        "stackwise_num_filters": [64, 64],
        "stackwise_num_blocks": [1, 1],
        "stackwise_num_strides": [1, 2],
        "block_type": "basic_block",
    },
    "DenseNet": {**_IMAGE, "stackwise_num_repeats": [2, 2], "growth_rate": 8},
    "CSPNet": {
        **_IMAGE,
        "stem_filters": 8,
        "stem_kernel_size": 3,
        "stem_strides": 1,
        "stackwise_depth": [1, 1],
        "stackwise_strides": [1, 2],
        "stackwise_num_filters": [8, 16],
        "block_type": "dark_block",
        "stage_type": "dark",
    },
    "VGG": {
        **_IMAGE,
        "stackwise_num_repeats": [1, 1],
        "stackwise_num_filters": [8, 16],
    },
    "SwinTransformer": {
        **_IMAGE,
        "embed_dim": 8,
        "depths": [2, 2],
        "num_heads": [1, 2],
        "window_size": 4,
    },
}
TASKS = {
    "BertTextClassifier": ("Bert", {"num_classes": 3}),
    "RobertaTextClassifier": ("Roberta", {"num_classes": 3}),
    "GPT2CausalLM": ("GPT2", {}),
    "LlamaCausalLM": ("Llama", {}),
    "BertMaskedLM": ("Bert", {}),
    "ViTImageClassifier": ("ViT", {"num_classes": 3}),
    "EfficientNetImageClassifier": ("EfficientNet", {"num_classes": 3}),
}
# The table was renewed with one network of keras.applications; others have no rows.
APPLICATIONS = ("ConvNeXtTiny",)


def names() -> list[str]:
    """Return the names of the models."""
    hub = [f"keras-hub/{name}" for name in (*BACKBONES, *TASKS)]
    return [*hub, *(f"keras.applications/{name}" for name in APPLICATIONS)]


def build(name: str) -> keras.Model:
    """Build one of the models, with random weights."""
    package, _, model = name.partition("/")
    keras.utils.set_random_seed(0)
    if package == "keras.applications":
        make = getattr(keras.applications, model)
        return make(weights=None, input_shape=(96, 96, 3), classes=10)
    module = importlib.import_module(package.replace("-", "_"))
    if model in TASKS:
        backbone, arguments = TASKS[model]
        return getattr(module.models, model)(
            build(f"keras-hub/{backbone}"), preprocessor=None, **arguments
        )
    return getattr(module.models, f"{model}Backbone")(**BACKBONES[model])
