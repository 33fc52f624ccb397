"""`with_encoder`, which puts a `TableEncoder` into a network, and `encoder_of`."""

import keras

from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.encoder import TableEncoder


def with_encoder(
    network: keras.Sequential, encoder: TableEncoder, fitted: FittedPreprocessing
) -> keras.Sequential:
    """Return a trained network that takes rows from `TableEncoder.encode`.

    Args:
        network: A network of preprocessed inputs. Its last layer is dense, and its
            outputs are the logits of classes or a scaled target.
        encoder: Layer that does the preprocessing.
        fitted: The preprocessing, for the scale of the target.

    Returns:
        A network with the same trained layers. Its outputs are the probabilities of
        the classes, or the target in the units of the table.
    """
    *body, last = network.layers
    classes = encoder.classes is not None
    head = keras.layers.Dense(last.units, "softmax" if classes else None)
    inputs = keras.Input((len(encoder.columns),))
    model = keras.Sequential([inputs, encoder, *body, head])
    kernel, bias = last.get_weights()
    target = fitted.target_scale
    if target is not None:
        kernel = kernel * target.spread
        bias = bias * target.spread + target.center
    head.set_weights([kernel, bias])
    return model


def encoder_of(model: keras.Model) -> TableEncoder:
    """Return the encoder of a model.

    Args:
        model: A model whose first layer is a `TableEncoder`.

    Raises:
        ValueError: If the model has none.
    """
    for layer in model.layers:
        if isinstance(layer, TableEncoder):
            return layer
    raise ValueError(
        "The model must contain a TableEncoder, as the models do that "
        "`keras-vaf compare` and `keras-vaf search` save. "
        f"Received: model={model.name!r} without one"
    )
