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
from keras_vaf.layers.keras_internals import all_layers, own_variables
from keras_vaf.utils import check_flag, did_you_mean, parse_json, write_atomically

_MOST = 2**22
"""Largest number of bytes in the layout of a file."""


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
    everything = {each.name: each for each in all_layers(model, include_self=False)}
    named = [_named(name, everything) for name in also]
    model.trainable = True  # a frozen outer layer would freeze its inner layers
    for layer in all_layers(model, include_self=False):
        if not all_layers(layer, include_self=False):
            layer.trainable = False
        for weight in own_variables(layer):
            weight.trainable = False
    for layer in (*trainable_activations(model).values(), *named):
        for part in all_layers(layer):
            part.trainable = True
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
    buffer = io.BytesIO()
    # One array for all numbers, because each array adds about 200 bytes.
    np.savez_compressed(buffer, layout=json.dumps(layout), numbers=_numbers(weights))
    return write_atomically(path, buffer.getvalue())


def load_activations(model: keras.Model, path: str | os.PathLike[str]) -> None:
    """Read the weights of a model's trainable activations from a file.

    Args:
        model: A model with the same activations, in the same order.
        path: Path of a file written by `save_activations`.

    Raises:
        ValueError: If the file belongs to another model, is incomplete, or was not
            written by `save_activations`, or if a number is not finite. The model is
            not changed then.
        FileNotFoundError: If the file does not exist.

    Example: see `save_activations`.
    """
    layout, weights = _weights(model)
    numbers = _read(Path(path), layout, _numbers(weights))
    sizes = [math.prod(weight.shape) for weight in weights]
    parts = np.split(numbers, np.cumsum(sizes[:-1]))
    for weight, part in zip(weights, parts, strict=True):
        weight.assign(part.reshape(weight.shape))


def _numbers(weights: Sequence[keras.Variable]) -> np.ndarray:
    """Return the numbers of weights as a single array."""
    arrays = [keras.ops.convert_to_numpy(weight.value).ravel() for weight in weights]
    return np.concatenate(arrays)


def _read(path: Path, layout: list[list[Any]], like: np.ndarray) -> np.ndarray:
    """Return the numbers of a file.

    Args:
        path: Path of the file.
        layout: The layout that the file must have.
        like: An array of the dtype and the shape that the numbers must have.

    Raises:
        ValueError: If the file is not as expected.
        FileNotFoundError: If the file does not exist.
    """
    if not path.exists():
        raise FileNotFoundError(f"The file {path} does not exist")
    try:
        with zipfile.ZipFile(path) as archive:
            text = _array(archive, "layout.npy").item()
            found = list(parse_json(text))
            if found == layout:
                numbers = _array(archive, "numbers.npy", like)
    except Exception as error:  # zipfile and NumPy raise errors of any class
        raise ValueError(
            f"Expected a file that `save_activations` wrote. Received: {path} ({error})"
        ) from error
    if found != layout:
        pairs = itertools.zip_longest(found, layout)
        got, wanted = next((a, b) for a, b in pairs if a != b)
        raise ValueError(
            "Expected the file of a model with the same trainable activations. "
            f"Received: {path}, with the weight {str(got)[:200]} instead of {wanted} "
            "(number of the activation, name, shape)"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"Expected {numbers.size} finite numbers. Received: {path}, with "
            f"{np.isfinite(numbers).sum()} that are finite"
        )
    return numbers


def _array(
    archive: zipfile.ZipFile, name: str, like: np.ndarray | None = None
) -> np.ndarray:
    """Return an array of an archive, whose header is checked before its data are read.

    Args:
        archive: The archive.
        name: Name of the array.
        like: An array of the expected dtype and shape; `None` for a text.

    Raises:
        ValueError: If the array has another dtype or shape, or too many or few bytes.
    """
    with archive.open(name) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} has another version of the format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        is_text = dtype.kind == "U" and dtype.itemsize <= _MOST
        if like is None:
            fits, wanted = is_text and shape == (), "a text"
        else:
            fits = dtype == like.dtype and shape == like.shape
            wanted = f"{like.dtype} of shape {like.shape}"
        if not fits or fortran:
            raise ValueError(f"{name} must hold {wanted}, not {dtype} of shape {shape}")
        size = math.prod(shape) * dtype.itemsize
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{name} must have {size} bytes after its header")
    return np.frombuffer(content, dtype).reshape(shape)


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
