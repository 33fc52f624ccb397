"""`grow`, which adds hidden units to VAFs without changing their functions."""

from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.units import spare_units
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.analysis.fixed_activations import label
from keras_vaf.models.surgery.changes import KeptError, NewActivation
from keras_vaf.models.surgery.replacement import replace_trainable
from keras_vaf.models.vaf_equivalent import built_shape
from keras_vaf.utils import check_integer


def grow(model: keras.Model | VAFActivation, k: int) -> keras.Model | VAFActivation:
    """Add hidden units to VAFs without changing their outputs.

    The new units contribute nothing at first and learn from the next step on. Their
    beta is 0, and their knots are among typical inputs of the layer.

    Args:
        model: A model with VAFs, or a single VAF.
        k: Number of hidden units of each VAF in the result.

    Returns:
        A model or a layer with equal outputs. `keras_vaf.models.report` lists the
        changes of a model.

    Raises:
        ValueError: If a VAF has more than k hidden units, or if the model does not
            contain a VAF.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(k=3, initialization="relu")
    >>> wider = grow(layer, k=8)
    >>> wider.k, bool(np.all(wider.function([-1, 2]) == [0, 2]))
    (8, True)
    """
    if isinstance(model, VAFActivation):
        return grow_layer(model, k)

    def make(layer: TrainableActivation, name: str) -> NewActivation:
        if not isinstance(layer, VAFActivation):
            raise KeptError("it has no hidden units")
        grown = grow_layer(layer, k, name=name)
        return NewActivation(grown, label(layer), label(grown), 0.0)

    return replace_trainable(model, make)


def grow_layer(layer: VAFActivation, k: int, **changes: Any) -> VAFActivation:
    """Return a VAF with the same function and more hidden units.

    Args:
        layer: A VAF with weights.
        k: Number of hidden units of the new VAF.
        **changes: Arguments in which the new layer differs from the old one.

    Raises:
        ValueError: If the layer has more hidden units than k, or no weights yet.
    """
    if check_integer("k", k) < layer.k:
        raise ValueError(
            f"The layer {layer.name!r} has {layer.k} hidden units: expected k >= "
            f"{layer.k}. Received: k={k}"
        )
    alpha, alpha_bias, beta, beta_bias = layer.get_effective_weights()
    spares = spare_units(k - layer.k, layer.g, alpha, alpha_bias)
    grown = VAFActivation.from_config({**layer.get_config(), "k": k, **changes})
    grown.build(built_shape(layer))
    pairs = zip((alpha, alpha_bias, beta), spares, strict=True)
    values = [*(_joined(old, new) for old, new in pairs), beta_bias]
    grown.set_weights(grown.own_parts(values))
    return grown


def _joined(weight: np.ndarray, more: np.ndarray) -> np.ndarray:
    new = np.broadcast_to(more, (*weight.shape[:-1], len(more)))
    return np.concatenate([weight, new], axis=-1)
