"""`formula`, which writes a learned function, and `nearest`, which names it."""

import dataclasses
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.models.formulas.curve import FORMS, Curve, curve_of, with_frame, written
from keras_vaf.models.graphs import checks, running
from keras_vaf.models.vaf_equivalent import units_of
from keras_vaf.ops.activations import KERAS_NAMES
from keras_vaf.ops.functions import evaluate, get_function
from keras_vaf.utils import check_choice, check_integer

GRID = np.linspace(-10, 10, 1001)
"""Points at which functions are compared where no data are given."""
_LIMIT = 0.02  # of the range of the values, the largest error of a known function
# If two functions fit about equally well, the simpler one is preferred.
_SIMPLE = ("linear", "relu", "LeakyReLU", "tanh", "sigmoid")
_OTHERS = [name for name in KERAS_NAMES if name not in (*_SIMPLE, "leaky_relu")]
_FULL = 17  # digits, from which on numbers are exact
_SHORT = 40  # characters of a formula in a title, at most
_COMMENT = {"text": "", "latex": "% "}


def formula(
    layer_or_model: Any, form: str = "text", digits: int = 6, data: Any = None
) -> str:
    r"""Return learned functions as formulas.

    If g is piecewise linear, the formula has the exact straight lines of f. Otherwise
    it is a sum of the copies of g that affect f. A layer with several functions gives a
    Markdown table in text, and aligned lines in LaTeX. If `digits` is below 17, a line
    states the largest difference from the learned function on [-10, 10], or on the
    data. Text also names the nearest known function (see `nearest`).

    Args:
        layer_or_model: An activation layer that `to_vaf` supports, with weights; or a
            model, or a converted module of PyTorch, with such layers.
        form: `"text"` or `"latex"`.
        digits: Number of significant digits, from 1 to 17. 17 digits are exact.
        data: Inputs of the layer, or of the model, with which errors are measured.

    Returns:
        The formula. For a model, one block for each trainable activation, or the reason
        why it has none, below its path.

    Raises:
        ValueError: If the layer cannot be written as a VAF or has no finite weights, or
            if the model has no trainable activation.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="leaky_relu")
    >>> print(formula(layer))
    f(a) = 0.2 a for a <= 0; a for a > 0
    6 digits: largest difference ... on [-10, 10]
    nearest: LeakyReLU(0.2), largest error ... on [-10, 10]
    >>> print(formula(layer, form="latex"))
    f(a) = \begin{cases} 0.2\,a & a \le 0 \\ a & a > 0 \end{cases}
    % 6 digits: largest difference ... on [-10, 10]
    """
    check_choice("form", form, FORMS)
    check_integer("digits", digits, maximum=_FULL)
    layers, inputs = {"": layer_or_model}, {"": data}
    model = isinstance(layer_or_model, keras.Model)
    if model or checks.functions_on_torch(layer_or_model):
        layers, inputs = running.read(layer_or_model, data)
    if "" in layers:  # a layer, or a module that is a VAF itself
        return _formula(layers[""], form, digits, inputs.get("", data))
    blocks = []
    for path, layer in layers.items():
        try:
            text = _formula(layer, form, digits, inputs.get(path))
        except ValueError as reason:
            text = f"{_COMMENT[form]}no formula: {reason}"
        blocks.append(f"{_COMMENT[form]}{path}:\n{text}")
    return "\n\n".join(blocks)


def short_formula(layer: keras.layers.Layer) -> str:
    """Return the formula of a layer for a title, or "" if it is not a short one."""
    try:
        curves = _curves(layer)
    except ValueError:
        return ""
    text = written(curves[""].rounded(3), "text") if "" in curves else ""
    return f"f(a) = {text}" if 0 < len(text) <= _SHORT else ""


def _formula(layer: keras.layers.Layer, form: str, digits: int, data: Any) -> str:
    curves = _curves(layer)
    printed = {name: curve.rounded(digits) for name, curve in curves.items()}
    text = with_frame(printed, form)
    if digits == _FULL:
        return text
    x = GRID if data is None else _points("data", data)
    where = "on [-10, 10]" if data is None else "on the data"
    error = max(_difference(curve, printed[name], x) for name, curve in curves.items())
    lines = [f"{_COMMENT[form]}{digits} digits: largest difference {error:.2g} {where}"]
    if form == "text" and isinstance(layer, TrainableActivation):
        lines.append(f"nearest: {nearest(layer, x)} {where}")
    return "\n".join([text.rstrip("\n"), *lines])


def _points(name: str, values: Any) -> np.ndarray:
    """Return finite inputs of a layer as a vector."""
    x = keras.ops.convert_to_numpy(values).astype("float64").ravel()
    if not x.size or not np.isfinite(x).all():
        raise ValueError(
            f"`{name}` must be finite inputs of the layer, one at least. "
            f"Received: an array of {x.size} numbers"
        )
    return x


def _difference(curve: Curve, shown: Curve, x: np.ndarray) -> float:
    """Return the largest difference at given points and, between them, at knots."""
    x = np.concatenate([x, np.clip(curve.knots + shown.knots, x.min(), x.max())])
    return float(np.max(np.abs(shown.values(x) - curve.values(x))))


def _curves(layer: keras.layers.Layer) -> dict[str, Curve]:
    """Return the functions of a layer by their index (see `with_frame`)."""
    checks.check_finite_weights(layer)
    g, units, constants = units_of(layer)
    return {
        "_".join(map(str, at)): curve_of(g, units[:, *at], float(constants[at]))
        for at in np.ndindex(constants.shape)
    }


@dataclasses.dataclass(frozen=True)
class KnownFunction:
    """A known function near a learned one: `scale * name(x) + offset`.

    Attributes:
        name: A Keras activation, or `"LeakyReLU"`.
        slope: Slope of a LeakyReLU for negative inputs.
        scale: Factor of the function.
        offset: Constant that is added.
        error: Largest difference at the points of comparison.
        limit: Error above which the printed text is `no known function`.
    """

    name: str
    slope: float
    scale: float
    offset: float
    error: float
    limit: float = np.inf

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
        x: Points of comparison, of any shape. By default, 1001 points on [-10, 10].

    Raises:
        ValueError: If `layer` is not a trainable activation, has no weights yet, or is
            not finite at these points, or if they are not finite or there are none.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="leaky_relu")
    >>> print(nearest(layer))
    LeakyReLU(0.2), largest error ...
    """
    if not isinstance(layer, TrainableActivation):
        raise ValueError(f"Expected a trainable activation. Received: layer={layer!r}")
    x = GRID if x is None else _points("x", x)
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
