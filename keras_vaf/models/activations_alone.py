"""`train_only_activations`, which freezes all weights but those of activations."""

from collections.abc import Sequence
from typing import Any

from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.keras_internals import all_layers, own_variables
from keras_vaf.models.graph import check_graph, is_torch_module
from keras_vaf.models.rebuild import rebuild
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
        also: Names of other layers with weights, or paths of modules, that stay
            trainable, such as the head.
        inplace: Whether to freeze the weights of the model itself. A model whose class
            defines `call` cannot be copied.

    Returns:
        A copy of the model, which is not compiled, or the model itself.

    Raises:
        ValueError: If the model has no trainable activation or no weights yet, if
            `also` has another name, or if the model cannot be copied.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras_vaf.layers.VAFActivation(), keras.layers.Dense(2, name="head")])
    >>> tuned = train_only_activations(model, also=["head"])
    >>> len(tuned.trainable_weights)
    6
    """
    if is_torch_module(model):
        from keras_vaf.models.modules_on_torch import train_only_vafs

        return train_only_vafs(model, also, inplace)
    trainable_activations(model)
    check_flag("inplace", inplace)
    if not model.weights:
        raise ValueError(
            "Expected a model with weights: call it on an input first. "
            f"Received: the model {model.name!r}, which is not built"
        )
    if not inplace:
        check_graph(model, "With `inplace=True`, any model is changed itself.")
        model, _ = rebuild(model, lambda place: None)
    inside = all_layers(model, include_self=False)
    named = {each.name: each for each in inside if each.weights}
    also = (also,) if isinstance(also, str) else also
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
