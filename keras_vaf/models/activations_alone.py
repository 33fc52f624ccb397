"""`train_only_activations`, which freezes all weights but those of activations."""

from collections.abc import Sequence
from typing import Any

import keras

from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.keras_internals import all_layers, own_variables
from keras_vaf.models.graph import is_torch_module
from keras_vaf.utils import check_flag, did_you_mean


def train_only_activations(
    model: Any, also: Sequence[str] = (), inplace: bool = False
) -> Any:
    """Return a model in which only the trainable activations are trained.

    Fine-tuning then has few parameters: a VAF shared per layer has 3k + 1. Batch
    normalization layers run in inference mode, so their statistics are frozen too.

    Args:
        model: A built model with trainable activations, such as the result of
            `convert`, or a converted module of PyTorch. In a module, batch
            normalization still updates its statistics in training mode.
        also: Names of other layers, or paths of modules, that stay trainable, such as
            the head.
        inplace: Whether to freeze the weights of the model itself instead of a copy.

    Returns:
        A copy of the model, which is not compiled, or the model itself if `inplace` is
        true.

    Raises:
        ValueError: If the model has no trainable activation or no weights yet, if
            `also` has a name that is not the name of a layer with weights, or if the
            model cannot be copied.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras_vaf.layers.VAFActivation(), keras.layers.Dense(2, name="head")])
    >>> tuned = train_only_activations(model, also=["head"])
    >>> import math
    >>> sum(math.prod(weight.shape) for weight in tuned.trainable_weights)
    28
    """
    if is_torch_module(model):
        from keras_vaf.models.modules_on_torch import train_only_vafs

        return train_only_vafs(model, also, inplace)
    trainable_activations(model)
    check_flag("inplace", inplace)
    if isinstance(also, str):
        also = (also,)
    if not model.weights:
        raise ValueError(
            "Expected a model with weights: call it on an input first. "
            f"Received: the model {model.name!r}, which is not built"
        )
    if not inplace:
        model = _copied(model)
    inside = all_layers(model, include_self=False)
    named = {each.name: each for each in inside if each.weights}
    for name in also:
        if name not in named:
            raise ValueError(
                "`also` must name layers with weights, as in `model.summary()`."
                f"{did_you_mean(name, named)} Received: {name!r}"
            )
    model.trainable = True  # a frozen outer layer would freeze its inner layers
    for layer in inside:
        if not all_layers(layer, include_self=False):
            layer.trainable = False
        for weight in own_variables(layer):
            weight.trainable = False
    activations = trainable_activations(model)
    for layer in (*activations.values(), *map(named.get, also)):
        for part in all_layers(layer):
            part.trainable = True
    return model


def _copied(model: keras.Model) -> keras.Model:
    try:
        config = keras.saving.serialize_keras_object(model)
        config.pop("compile_config", None)
        copy = keras.saving.deserialize_keras_object(config, safe_mode=False)
        copy.set_weights(model.get_weights())
        return copy
    except Exception as error:  # the code of custom layers may raise anything
        raise ValueError(
            "The model cannot be copied: its custom classes need `get_config` and "
            "`keras.saving.register_keras_serializable`. With `inplace=True`, the "
            f"model itself is changed. Received: {model.name!r} ({error})"
        ) from error
