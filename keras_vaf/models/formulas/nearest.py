"""`nearest`, which finds the known function nearest to a learned one."""

import dataclasses
from typing import Any

import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.ops.activations import KERAS_NAMES
from keras_vaf.ops.functions import evaluate, get_function

GRID = np.linspace(-10, 10, 1001)
"""Points at which functions are compared where no data are given."""
_LIMIT = 0.02  # of the range of the values, the largest error of a known function
# If two functions fit about equally well, the simpler one is preferred.
_SIMPLE = ("linear", "relu", "LeakyReLU", "tanh", "sigmoid")
_OTHERS = [name for name in KERAS_NAMES if name not in (*_SIMPLE, "leaky_relu")]


@dataclasses.dataclass(frozen=True)
class KnownFunction:
    """A known function near a learned one: `scale * name(x) + offset`."""

    name: str
    """`"LeakyReLU"`, or the name of a Keras activation."""
    slope: float
    """Slope of a LeakyReLU for negative inputs."""
    scale: float
    offset: float
    error: float
    """Largest difference from the learned function at the points compared."""
    limit: float = np.inf
    """Largest error at which the learned function gets this name."""

    def __str__(self) -> str:
        """Return a line such as `0.98 x LeakyReLU(0.13), largest error 0.004`."""
        if self.error > self.limit:
            return "no known function"
        scale = "" if f"{self.scale:.2f}" == "1.00" else f"{self.scale:.2f} x "
        slope = f"({self.slope:.2g})" if self.name == "LeakyReLU" else ""
        sign = "-" if self.offset < 0 else "+"
        offset = f" {sign} {abs(self.offset):.2f}" if abs(self.offset) >= 0.005 else ""
        return f"{scale}{self.name}{slope}{offset}, largest error {self.error:.2g}"


def nearest(layer: TrainableActivation, x: Any = None) -> KnownFunction:
    """Return the known function that is nearest to the learned function of a layer.

    The known functions are the activations of Keras, times a factor, plus a constant.
    If the largest error is above 2 % of the range of the learned values, the text of
    the result is `no known function`.

    Args:
        layer: A trainable activation. If it has several functions, all are compared
            with the same known function.
        x: Points of comparison, such as inputs of the layer. By default, 1001 points on
            [-10, 10].

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
    x = GRID if x is None else np.asarray(x, "float64")
    y = layer.function(x).reshape(len(x), -1)
    if not np.isfinite(y).all():
        raise ValueError(
            "The learned function must be finite: train the model again, with a lower "
            f"learning rate. Received: layer={layer!r}, whose function is not"
        )
    best, *others = (_fitted(name, x, y) for name in (*_SIMPLE, *_OTHERS))
    for other in others:  # a simpler function is kept unless another is clearly nearer
        if other.error < 0.9 * best.error - 1e-6:
            best = other
    spread = np.max(np.ptp(y, axis=0))
    return dataclasses.replace(best, limit=float(_LIMIT * spread) + 1e-6)


def _fitted(name: str, x: np.ndarray, y: np.ndarray) -> KnownFunction:
    """Return a known function with the factors of least squares for all columns."""
    if name == "LeakyReLU":
        basis = [np.maximum(x, 0), np.minimum(x, 0), np.ones_like(x)]
    else:
        basis = [evaluate(get_function(name, "name"), x), np.ones_like(x)]
    design = np.stack(basis, axis=1)
    solution = np.linalg.lstsq(design, y.mean(axis=1), rcond=None)[0]
    error = float(np.max(np.abs((design @ solution)[:, None] - y)))
    scale, *left, offset = solution.tolist()
    slope = left[0] / scale if left and scale else 0.0
    if left and (scale == 0 or slope < 0):  # no such LeakyReLU exists in Keras
        error = np.inf
    return KnownFunction(name, slope, scale, offset, error)
