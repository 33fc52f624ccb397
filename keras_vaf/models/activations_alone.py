"""`train_only_activations`, and functions that save and load activations alone."""

import io
import itertools
import json
import math
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.utils import did_you_mean, write_atomically

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


def train_only_activations(
    model: keras.Model, also: Sequence[str] = (), inplace: bool = False
) -> keras.Model:
    """Return a model in which only the trainable activations are trained.

    This is fine-tuning with few parameters: a VAF shared per layer has 3k + 1. All
    other weights are frozen. Batch normalization layers then run in inference mode, so
    their statistics are frozen too. Compile the result before you train it.

    Args:
        model: A built model with trainable activations, such as the result of
            `convert`.
        also: Names of other layers that stay trainable, such as the head.
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
    trainable_activations(model)
    if isinstance(also, str):
        also = (also,)
    if not model.weights:
        raise ValueError(
            "Expected a model with weights: call it on an input first. "
            f"Received: the model {model.name!r}, which is not built"
        )
    if not inplace:
        model = _copied(model)
    everything = {each.name: each for each in model._flatten_layers(include_self=False)}
    named = [_named(name, everything) for name in also]
    model.trainable = True  # a frozen outer layer would freeze its inner layers
    for layer in model._flatten_layers(include_self=False, recursive=True):
        if not any(True for _ in layer._flatten_layers(include_self=False)):
            layer.trainable = False
        for weight in (*layer._trainable_variables, *layer._non_trainable_variables):
            weight.trainable = False
    for layer in (*trainable_activations(model).values(), *named):
        _unfreeze(layer)
    return model


def save_activations(model: keras.Model, path: str | os.PathLike[str]) -> Path:
    """Write the weights of a model's trainable activations to a file.

    Args:
        model: A model with trainable activations.
        path: Path of the file, which should end in `.npz`.

    Returns:
        The path written.

    Raises:
        ValueError: If the model has no trainable activation, or one has no weights yet.
        OSError: If the file cannot be written.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras_vaf.layers.VAFActivation()])
    >>> path = save_activations(model, "activations.npz")
    >>> path.stat().st_size < 2000
    True
    >>> load_activations(model, path)
    """
    layout, weights = _weights(model)
    arrays = [keras.ops.convert_to_numpy(weight.value).ravel() for weight in weights]
    buffer = io.BytesIO()
    # One array for all numbers, because each array adds about 200 bytes.
    np.savez_compressed(
        buffer, layout=json.dumps(layout), numbers=np.concatenate(arrays)
    )
    return write_atomically(path, buffer.getvalue())


def load_activations(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Read the weights of a model's trainable activations from a file.

    Args:
        model: A model with the same activations, in the same order.
        path: Path of a file written by `save_activations`.

    Raises:
        ValueError: If the file belongs to another model, is incomplete, or was not
            written by `save_activations`. The model is not changed then.
        FileNotFoundError: If the file does not exist.

    Example: see `save_activations`.
    """
    found, numbers = _read(Path(path))
    expected, weights = _weights(model)
    if found != expected:
        pairs = itertools.zip_longest(found, expected)
        difference = next((a, b) for a, b in pairs if a != b)
        raise ValueError(
            "Expected the file of a model with the same trainable activations. "
            "Received: {}, with the weight {} instead of {} (number of the activation, "
            "name, shape)".format(path, *difference)
        )
    sizes = [math.prod(weight.shape) for weight in weights]
    if numbers.shape != (sum(sizes),) or not np.isfinite(numbers).all():
        raise ValueError(
            f"Expected {sum(sizes)} finite numbers. Received: {path}, with an array of "
            f"shape {numbers.shape}, of which {np.isfinite(numbers).sum()} are finite"
        )
    parts = np.split(numbers, np.cumsum(sizes[:-1]))
    for weight, part in zip(weights, parts, strict=True):
        weight.assign(part.reshape(weight.shape))


def _read(path: Path) -> tuple[list[Any], np.ndarray]:
    """Return the layout and the numbers of a file."""
    content = io.BytesIO(path.read_bytes())
    try:
        with np.load(content, allow_pickle=False) as file:
            return list(json.loads(file["layout"].item())), file["numbers"]
    except (*_UNREADABLE, AttributeError, TypeError) as error:
        raise ValueError(
            f"Expected a file that `save_activations` wrote. Received: {path} ({error})"
        ) from error


def _weights(model: keras.Model) -> tuple[list[list[Any]], list[keras.Variable]]:
    """Return the weights of a model's trainable activations, and their layout.

    The layout has the number of the activation, the name and the shape of each weight,
    without the name of the layer.
    """
    layout, weights = [], []
    for place, (path, layer) in enumerate(trainable_activations(model).items()):
        if not layer.weights:
            hint = "call the model on an input first."
            raise ValueError(f"The layer {path!r} has no weights yet; {hint}")
        layout += [[place, each.name, [*each.shape]] for each in layer.weights]
        weights += layer.weights
    return layout, weights


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


def _named(name: str, everything: dict[str, keras.layers.Layer]) -> keras.layers.Layer:
    layer = everything.get(name)
    if layer is None or not layer.weights:
        raise ValueError(
            "`also` must name layers with weights, as in `model.summary()`."
            f"{did_you_mean(name, everything)} Received: {name!r}"
        )
    return layer


def _unfreeze(layer: keras.layers.Layer) -> None:
    for part in layer._flatten_layers():
        part.trainable = True
