"""`to_vaf`, which writes other activations as VAFs, as in section 3 of the paper."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf import layers
from keras_vaf.initializers import FunctionStart
from keras_vaf.initializers.units import relu_units
from keras_vaf.models.changes import KeptError
from keras_vaf.models.fixed import fixed
from keras_vaf.ops.activations import Function, elementwise
from keras_vaf.ops.functions import get_function
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
def gaussian(x: Tensor) -> Tensor:
    """Return exp(-x^2) element-wise, the kernel of `keras_vaf.layers.KAF`."""
    return ops.exp(-x * x)


def to_vaf(layer: keras.layers.Layer) -> layers.VAFActivation:
    """Return the VAF that computes the same function as another activation.

    A weighted sum of shifted and scaled copies of one function is a VAF with that
    function as g. Continuous piecewise-linear functions are VAFs with g = relu.

    Args:
        layer: A layer with weights: `keras.layers.ReLU`, `LeakyReLU`, `PReLU` or
            `Activation` with an element-wise function; or `VAFActivation`, `SReLU`,
            `APL`, `KAF`, `PELU`, `AdaptiveSigmoid` or `AdaptiveTanh`.

    Returns:
        A built layer with equal outputs, which can be trained like any other VAF.

    Raises:
        ValueError: If the layer cannot be written as a VAF, with the reason.

    Reference:
        The paper, section 3.1.

    Example:

    >>> vaf = to_vaf(keras.layers.LeakyReLU(negative_slope=0.25))
    >>> print(vaf.function([-4, 0, 4]))
    [-1.  0.  4.]
    """
    g, units, beta_bias = units_of(layer)
    sharing = getattr(layer, "sharing", "layer")
    if isinstance(layer, keras.layers.PReLU):
        sharing = tuple(layer.shared_axes or ()) or "neuron"
    data_format = getattr(layer, "data_format", None)
    arguments = {"sharing": sharing, "data_format": data_format, "name": layer.name}
    vaf = layers.VAFActivation(units.shape[-1], g, **arguments)
    vaf.build(built_shape(layer))
    vaf.set_weights([*units, beta_bias])
    return vaf


def built_shape(layer: keras.layers.Layer) -> tuple[int | None, ...]:
    """Return the input shape that built a layer, or one that builds any layer."""
    built = layer.get_build_config()  # `None` if only its weights exist
    return tuple(built["input_shape"]) if built else (None, None)


def weights_of(layer: keras.layers.Layer) -> list[np.ndarray]:
    """Return the weights of a built layer as float64 NumPy arrays."""
    if not layer.weights:
        raise ValueError(
            f"The layer {layer.name!r} has no weights yet; build it, or call it on an "
            "input, first."
        )
    return [np.asarray(weight, "float64") for weight in layer.get_weights()]


_Parts = tuple[Function, np.ndarray, np.ndarray]
"""g, the stacked alpha, alpha_bias and beta of its units, and beta_bias."""
_SCALED = {
    layers.PELU: keras.activations.elu,
    layers.AdaptiveSigmoid: keras.activations.sigmoid,
    layers.AdaptiveTanh: keras.activations.tanh,
}
_REASONS = {each.layer: each.not_a_vaf for each in layers.ACTIVATIONS if each.not_a_vaf}


def _made_of(g: Function, *units: tuple[Any, Any, Any], beta_bias: Any = 0.0) -> _Parts:
    """Join hidden units, each given as alpha, alpha_bias and beta."""
    entries = np.broadcast_arrays(*(value for unit in units for value in unit))
    stacked = np.stack(entries, axis=-1)
    stacked = stacked.reshape(*stacked.shape[:-1], len(units), 3)
    bias = np.broadcast_to(beta_bias, stacked.shape[:-2])
    return g, np.moveaxis(stacked, -1, 0), bias


def units_of(layer: keras.layers.Layer) -> _Parts:
    """Return the weights of the VAF of `to_vaf`, in double precision.

    alpha, alpha_bias and beta are stacked: their shape is `(3, *unshared, k)`.
    """
    relu = keras.activations.relu
    same = (1, 0, 1)  # the identity on the right of 0
    match layer:
        case layers.VAFActivation():
            *parts, beta_bias = weights_of(layer)
            return _of_lines(layer.g, np.stack(parts), beta_bias)
        case layers.KAF():
            alpha, *trained = weights_of(layer)
            root = np.sqrt(trained[0] if trained else layer.gamma)
            points = enumerate(layer.dictionary)
            units = [(root, -root * point, alpha[..., i]) for i, point in points]
            return _made_of(gaussian, *units)
        case layers.PELU() | layers.AdaptiveSigmoid() | layers.AdaptiveTanh():
            alpha, beta = weights_of(layer)
            scale = 1 / beta if isinstance(layer, layers.PELU) else beta
            return _made_of(_SCALED[type(layer)], (scale, 0, alpha))
        case layers.APL():
            slopes, hinges = (np.moveaxis(w, -1, 0) for w in weights_of(layer))
            left_units = zip(-np.ones_like(slopes), hinges, slopes, strict=True)
            return _made_of(relu, same, *left_units)
        case layers.SReLU():
            left, left_slope, right, right_slope = weights_of(layer)
            # The middle line is cut off at the left threshold, then at the right one.
            end = np.maximum(left, right)
            ends = [(-1, left, -left_slope), (1, -right, right_slope)]
            constant = np.minimum(left, right)
            middle = [(1, -left, 1), (1, -end, -1)]
            return _made_of(relu, *middle, *ends, beta_bias=constant)
        case keras.layers.PReLU():
            (alpha,) = weights_of(layer)
            shared = tuple(axis - 1 for axis in layer.shared_axes or ())
            return _made_of(relu, same, (-1, 0, -np.squeeze(alpha, shared)))
        case _ if type(layer) in _REASONS:
            reason = _REASONS[type(layer)]
        case _:
            try:
                start: Any = fixed(layer)[1]
            except KeptError as error:
                reason = str(error)
            else:
                if isinstance(start, FunctionStart):
                    g = get_function(start.function, "g")
                    return _of_lines(g, np.array([[1.0], [0.0], [1.0]]), np.zeros(()))
                carriers, constant = start.carriers()
                return _made_of(relu, *carriers, beta_bias=constant)
    raise ValueError(
        f"A {type(layer).__name__} cannot be written as a VAF: {reason}. "
        f"Received: layer={layer!r}"
    )


def _of_lines(g: Function, units: np.ndarray, beta_bias: np.ndarray) -> _Parts:
    """Return units of relu in the place of those of a g made of straight lines."""
    lines = elementwise(g).lines
    if lines is None:
        return g, units, beta_bias
    carriers, constant = relu_units(lines)
    slope, shift, factor = np.transpose(carriers)
    alpha, alpha_bias, beta = units[..., None]
    made = (slope * alpha, slope * alpha_bias + shift, factor * beta)
    bias = beta_bias + constant * units[2].sum(axis=-1)
    return keras.activations.relu, np.reshape(made, (*units.shape[:-1], -1)), bias
