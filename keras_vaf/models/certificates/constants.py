"""`constant_of`, which returns the Lipschitz constant of one layer."""

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.models.certificates.convolutions import convolution_bound
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import evaluate_all
from keras_vaf.ops.slope_bound import slope_bound

ROUNDING = 1 + 1e-11
"""Factor for the rounding errors of float64, which are about 1e-15 per term."""

Shape = tuple[int | None, ...]

_SOFTMAX = 0.5
"""The Jacobian of softmax is a matrix of covariances of variables from 0 to 1."""

_L = keras.layers
_MOVE_OR_DROP = (
    *(_L.InputLayer, _L.Identity, _L.Flatten, _L.Reshape, _L.Permute),
    *(_L.Dropout, _L.SpatialDropout1D, _L.SpatialDropout2D, _L.SpatialDropout3D),
    *(_L.AlphaDropout, _L.GaussianDropout, _L.GaussianNoise, _L.ActivityRegularization),
    *(_L.ZeroPadding1D, _L.ZeroPadding2D, _L.ZeroPadding3D),
    *(_L.Cropping1D, _L.Cropping2D, _L.Cropping3D),
    *(_L.GlobalMaxPooling1D, _L.GlobalMaxPooling2D, _L.GlobalMaxPooling3D),
    _L.GlobalAveragePooling1D,  # A mask may leave a single step of the average.
)
_GLOBAL_AVERAGES = (_L.GlobalAveragePooling2D, _L.GlobalAveragePooling3D)
_MAXIMA = (_L.MaxPooling1D, _L.MaxPooling2D, _L.MaxPooling3D)
_AVERAGES = (_L.AveragePooling1D, _L.AveragePooling2D, _L.AveragePooling3D)
_CONVOLUTIONS = (_L.Conv1D, _L.Conv2D, _L.Conv3D)
_TRANSPOSED = (_L.Conv1DTranspose, _L.Conv2DTranspose, _L.Conv3DTranspose)
_DEPTHWISE = (_L.DepthwiseConv1D, _L.DepthwiseConv2D)


def constant_of(layer: Any, shape: Shape = ()) -> float | None:
    """Return a bound on |F(x) - F(y)| / |x - y| for a layer F, in the Euclidean norm.

    Args:
        layer: A layer with weights, which is taken at inference. A custom class states
            its bound by a method `lipschitz_constant()`.
        shape: Shape of its input, with `None` for an unknown size.

    Returns:
        The bound, or `None` if it is unknown.
    """
    if hasattr(layer, "lipschitz_constant"):
        return float(layer.lipschitz_constant())
    if getattr(layer, "quantization_mode", None) is not None:
        return None  # the layer rounds its inputs, so that its output jumps
    if not all(np.isfinite(_array(weight)).all() for weight in layer.weights):
        return None
    for kinds, rule in _RULES:
        if type(layer) in kinds:
            return rule(layer)
    for kinds, rule_of_shape in _RULES_OF_SHAPES:
        if type(layer) in kinds:
            return rule_of_shape(layer, shape)
    return None


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(keras.ops.convert_to_numpy(tensor), "float64")


def _used(layer: Any, weight: Any) -> np.ndarray:
    """Return a weight as its layer uses it, rounded to the layer's compute dtype."""
    return _array(keras.ops.cast(weight, layer.compute_dtype))


def _vaf(layer: Any) -> float | None:
    slopes = elementwise(layer.g).slopes
    if slopes is None or slopes.highest == math.inf:
        return None

    def bound(*weights: Any) -> list[Any]:
        alpha, alpha_bias, beta, _ = weights
        return list(slope_bound(layer.g, alpha, alpha_bias, beta, "float64"))

    value, error = evaluate_all(bound, *map(_array, layer.effective_weights()))
    return float(np.max(value + error, initial=0.0))


def _function(layer: Any) -> float | None:
    """Return the constant of `keras.layers.Activation` or of a built-in activation."""
    activation = layer.activation
    if activation is keras.activations.softmax:
        return _SOFTMAX
    slopes = elementwise(activation).slopes
    if slopes is None:
        return None
    return max(abs(slopes.lowest), abs(slopes.highest))


def _with_activation(rule: Callable[[Any], float]) -> Callable[[Any], float | None]:
    """Return a rule that includes the built-in activation of a layer."""

    def both(layer: Any) -> float | None:
        activation = layer.activation
        inner = isinstance(activation, keras.layers.Layer)
        after = constant_of(activation) if inner else _function(layer)
        return None if after is None else rule(layer) * after

    return both


def _dense(layer: Any) -> float:
    kernel = _used(layer, layer.kernel)
    return float(np.linalg.svd(kernel, compute_uv=False).max(initial=0.0))


def _depthwise(layer: Any) -> float:
    kernel = _used(layer, layer.kernel)
    *places, channels, multiplier = kernel.shape
    kernel = kernel.reshape(*places, 1, channels * multiplier)
    return convolution_bound(kernel, groups=channels)


def _normalization(layer: Any) -> float:
    scale = 1 / np.sqrt(_array(layer.moving_variance) + layer.epsilon)
    if layer.scale:
        scale = scale * np.abs(_array(layer.gamma))
    return float(scale.max())


def _windows(layer: Any) -> int:
    """Return the largest number of windows of a pooling layer that share an element."""
    pairs = zip(layer.pool_size, layer.strides, strict=True)
    return math.prod(math.ceil(size / stride) for size, stride in pairs)


def _average(layer: Any) -> float:
    """Return the bound of an average pooling layer.

    The square of an average of n elements is at most the sum of their squares divided
    by n. With padding, windows at the edge have fewer elements, or repeat some.
    """
    fewest = math.prod(layer.pool_size) if layer.padding == "valid" else 1
    return math.sqrt(_windows(layer) / fewest)


def _global_average(layer: Any, shape: Shape) -> float:
    places = shape[1:-1] if layer.data_format == "channels_last" else shape[2:]
    return 1 / math.sqrt(math.prod(size or 1 for size in places))


def _rescaling(layer: Any, shape: Shape) -> float | None:
    """Return the bound of a rescaling layer, unless its arrays broadcast the input."""
    sizes = [size or 1 for size in shape]
    for values in map(np.shape, (layer.scale, layer.offset)):
        if math.prod(values) == 1 and len(values) <= len(shape):
            continue
        if keras.config.image_data_format() == "channels_first":
            return None  # Keras then inserts axes into the scale.
        if list(np.broadcast_shapes(values, sizes)) != sizes:
            return None
    return float(np.abs(_used(layer, layer.scale)).max())


def _prelu(layer: Any) -> float | None:
    if not layer.built:
        return None  # inside another layer that was not called yet
    return float(max(1.0, np.abs(_used(layer, layer.alpha)).max(initial=0.0)))


def _leaky(layer: Any) -> float | None:
    if getattr(layer, "threshold", 0):
        return None  # the function jumps at the threshold
    return float(max(abs(layer.negative_slope), 1.0))


def _convolution(layer: Any) -> float:
    return convolution_bound(_used(layer, layer.kernel), getattr(layer, "groups", 1))


_RULES: tuple[tuple[tuple[type, ...], Callable[[Any], float | None]], ...] = (
    (_MOVE_OR_DROP, lambda layer: 1.0),
    ((VAFActivation,), _vaf),
    ((_L.Activation,), _function),
    ((_L.Softmax,), lambda layer: _SOFTMAX),
    ((_L.ReLU, _L.LeakyReLU), _leaky),
    ((_L.PReLU,), _prelu),
    ((_L.Dense,), _with_activation(_dense)),
    ((*_CONVOLUTIONS, *_TRANSPOSED), _with_activation(_convolution)),
    (_DEPTHWISE, _with_activation(_depthwise)),
    ((_L.BatchNormalization,), _normalization),
    (_MAXIMA, lambda layer: math.sqrt(_windows(layer))),
    (_AVERAGES, _average),
)
_RULES_OF_SHAPES: tuple[
    tuple[tuple[type, ...], Callable[[Any, Shape], float | None]], ...
] = ((_GLOBAL_AVERAGES, _global_average), ((_L.Rescaling,), _rescaling))

KINDS = tuple(kind for kinds, _ in (*_RULES, *_RULES_OF_SHAPES) for kind in kinds)
"""The classes of layers that have a rule."""
