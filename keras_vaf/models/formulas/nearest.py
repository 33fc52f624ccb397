"""`nearest`, which finds the known function nearest to a learned one, and a list."""

import dataclasses
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.sharing import Sharing
from keras_vaf.models.fixed import label
from keras_vaf.ops.activations import KERAS_NAMES
from keras_vaf.ops.functions import evaluate, get_function

RANGE = (-10.0, 10.0)
LIMIT = 0.02
"""Largest error of a known function, as a part of the range of the curve's values."""
# If two functions fit about equally well, the simpler one is preferred.
_SIMPLE = ("linear", "relu", "tanh", "sigmoid")
_NAMES = (
    *_SIMPLE,
    *(name for name in KERAS_NAMES if name not in (*_SIMPLE, "leaky_relu")),
)


@dataclasses.dataclass(frozen=True)
class KnownFunction:
    """A known function near a learned one: `scale * name(x) + offset`.

    Args:
        name: `"LeakyReLU"`, or the name of a Keras activation.
        slope: Slope of a LeakyReLU for negative inputs.
        scale: Factor of the function.
        offset: Constant added to the function.
        error: Largest difference from the learned function at the points compared.
        limit: Largest error at which the learned function gets this name.
    """

    name: str
    slope: float = 0.0
    scale: float = 1.0
    offset: float = 0.0
    error: float = 0.0
    limit: float = np.inf

    @property
    def function(self) -> str:
        """The function without scale and offset, such as `LeakyReLU(0.13)`."""
        return f"LeakyReLU({self.slope:.2g})" if self.name == "LeakyReLU" else self.name

    def __str__(self) -> str:
        """Return a line such as `0.98 x LeakyReLU(0.13), largest error 0.004`.

        If the error is above the limit, the line is `no known function`.
        """
        if self.error > self.limit:
            return "no known function"
        scale = "" if f"{self.scale:.2f}" == "1.00" else f"{self.scale:.2f} x "
        sign = "-" if self.offset < 0 else "+"
        offset = f" {sign} {abs(self.offset):.2f}" if abs(self.offset) >= 0.005 else ""
        return f"{scale}{self.function}{offset}, largest error {self.error:.2g}"

    def layer(self, **arguments: Any) -> keras.layers.Layer:
        """Return the Keras layer of the function, without scale and offset."""
        if self.name == "LeakyReLU":
            return keras.layers.LeakyReLU(self.slope, **arguments)
        return keras.layers.Activation(self.name, **arguments)


def nearest(
    layer: TrainableActivation, x: Any = None, scaled: bool = True
) -> KnownFunction:
    """Return the known function that is nearest to the learned function of a layer.

    If the largest error is above 2 % of the range of the learned function's values at
    the points of comparison, the text of the result is `no known function`.

    Args:
        layer: A trainable activation with weights. If it has several functions, all are
            compared with the same known function.
        x: Points of comparison, such as inputs of the layer. By default, 1001 points on
            [-10, 10].
        scaled: Whether to fit a factor and a constant to the known function.

    Returns:
        The known function with the smallest largest error.

    Raises:
        ValueError: If `layer` is not a trainable activation, has no weights yet, or is
            not finite at these points.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="leaky_relu")
    >>> print(nearest(layer))
    LeakyReLU(0.2), largest error ...
    """
    if not isinstance(layer, TrainableActivation):
        raise ValueError(f"Expected a trainable activation. Received: layer={layer!r}")
    x = np.linspace(*RANGE, 1001) if x is None else np.asarray(x, "float64")
    y = layer.function(x).reshape(len(x), -1)
    if not np.isfinite(y).all():
        raise ValueError(
            "The learned function must be finite: train the model again, with a lower "
            f"learning rate. Received: layer={layer!r}, whose function is not"
        )
    candidates = [_leaky(x, y, scaled)]
    candidates += [_named(name, x, y, scaled) for name in _NAMES]
    # A simpler function is kept unless another one is clearly nearer.
    best = candidates[1]
    for candidate in (*candidates[2:3], candidates[0], *candidates[3:]):
        if candidate.error < 0.9 * best.error - 1e-6:
            best = candidate
    spread = np.max(np.ptp(y, axis=0))
    return dataclasses.replace(best, limit=float(LIMIT * spread) + 1e-6)


class InspectedActivation(NamedTuple):
    """A trainable activation of a model.

    Attributes:
        path: Path of the layer in the model.
        activation: Class of the layer, with k and g if it is a VAF.
        sharing: Elements that share a function.
        parameters: Number of parameters.
        nearest: The known function nearest to the learned one.
    """

    path: str
    activation: str
    sharing: Sharing
    parameters: int
    nearest: KnownFunction


def inspect_activations(model: keras.Model) -> list[InspectedActivation]:
    """Return the trainable activations of a model with their nearest known functions.

    Args:
        model: A model with weights.

    Raises:
        ValueError: If the model has no trainable activation.

    Example:

    >>> model = keras.Sequential([keras.Input((2,)), keras_vaf.layers.VAFActivation()])
    >>> [found.parameters for found in inspect_activations(model)]
    [10]
    """
    return [
        InspectedActivation(
            path, label(layer), layer.sharing, layer.count_params(), nearest(layer)
        )
        for path, layer in trainable_activations(model).items()
    ]


def _named(name: str, x: np.ndarray, y: np.ndarray, scaled: bool) -> KnownFunction:
    values = evaluate(get_function(name, "name"), x)
    scale, offset = 1.0, 0.0
    if scaled:
        scale, offset = _solve([values, np.ones_like(x)], y)
    error = np.max(np.abs(scale * values[:, None] + offset - y))
    return KnownFunction(name, 0.0, scale, offset, float(error))


def _leaky(x: np.ndarray, y: np.ndarray, scaled: bool) -> KnownFunction:
    right, left = np.maximum(x, 0), np.minimum(x, 0)
    if scaled:
        scale, slope, offset = _solve([right, left, np.ones_like(x)], y)
    else:
        scale, offset = 1.0, 0.0
        (slope,) = _solve([left], y - right[:, None])
    fitted = scale * right + slope * left + offset
    error = float(np.max(np.abs(fitted[:, None] - y)))
    if scale == 0 or slope / scale < 0:  # no such LeakyReLU exists in Keras
        return KnownFunction("LeakyReLU", 0.0, scale, offset, np.inf)
    return KnownFunction("LeakyReLU", slope / scale, scale, offset, error)


def _solve(basis: list[np.ndarray], y: np.ndarray) -> list[float]:
    """Return the coefficients of the least-squares combination for all columns."""
    solution = np.linalg.lstsq(np.stack(basis, axis=1), y.mean(axis=1), rcond=None)[0]
    return [float(value) for value in solution]
