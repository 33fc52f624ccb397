"""`save_curve` and `load_curve`, which save and load one learned function."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_vaf.initializers import CurveStart
from keras_vaf.layers import TrainableActivation
from keras_vaf.models.vaf_equivalent import to_vaf
from keras_vaf.ops.functions import function_identifier
from keras_vaf.utils import parse_json, write_atomically

FORMAT = "keras_vaf.curve.1"
_MOST = 2**20  # bytes of a file


def save_curve(
    layer: TrainableActivation,
    path: str | os.PathLike[str],
    index: Sequence[int] = (),
) -> Path:
    """Write a learned function to a JSON file.

    Args:
        layer: A VAF, or another activation that `to_vaf` supports.
        path: Path of the file.
        index: Index of the function, if the layer has several: `(3,)` for the function
            of channel 3.

    Returns:
        The path written.

    Raises:
        ValueError: If the layer cannot be written as a VAF or has no weights yet, if
            `index` is not the index of a function, or if g is not registered.
        OSError: If the file cannot be written.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
    >>> path = save_curve(layer, "relu.json")
    >>> again = keras_vaf.layers.VAFActivation(k=5, initialization=load_curve(path))
    >>> print(again.function([-1, 2]))
    [0. 2.]
    """
    vaf = to_vaf(layer)
    weights = vaf.get_effective_weights()
    shape = weights[-1].shape
    place = tuple(index)
    inside = zip(place, shape, strict=False)
    if len(place) != len(shape) or not all(0 <= i < size for i, size in inside):
        raise ValueError(
            f"The layer {layer.name!r} has functions of shape {shape}: expected an "
            "`index` with one number for each of these axes. "
            f"Received: index={index!r}"
        )
    names = ("alpha", "alpha_bias", "beta", "beta_bias")
    values = {n: w[place].tolist() for n, w in zip(names, weights, strict=True)}
    content = {"format": FORMAT, "g": function_identifier(vaf.g, "g"), **values}
    return write_atomically(path, json.dumps(content, indent=1) + "\n")


def load_curve(path: str | os.PathLike[str]) -> CurveStart:
    """Load a learned function as a start for a new VAF.

    Args:
        path: Path of a file written by `save_curve`.

    Returns:
        A start, for the argument `initialization` of `VAFActivation`.

    Raises:
        ValueError: If the file was not written by `save_curve`, or if its g is not
            registered.
        OSError: If the file cannot be read.

    Example: see `save_curve`.
    """
    with Path(path).open("rb") as file:
        text = file.read(_MOST + 1)
    try:
        if len(text) > _MOST:
            raise ValueError(f"it has more than {_MOST} bytes")
        content = parse_json(text)
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        start = CurveStart(**content)
        weights = (*start.alpha, *start.alpha_bias, *start.beta, start.beta_bias)
        if max(map(abs, weights)) > float(np.finfo("float32").max):
            raise ValueError("a number is beyond the range of float32")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"Expected a file that keras_vaf.models.save_curve wrote. Received: {path} "
            f"({error})"
        ) from error
    return start
