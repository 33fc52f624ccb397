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

_L = keras.layers
_MOVE_OR_DROP = (
    *(_L.InputLayer, _L.Identity, _L.Flatten, _L.Reshape, _L.Permute),
    *(_L.Dropout, _L.SpatialDropout1D, _L.SpatialDropout2D, _L.SpatialDropout3D),
    *(_L.AlphaDropout, _L.GaussianDropout, _L.GaussianNoise, _L.ActivityRegularization),
    *(_L.ZeroPadding1D, _L.ZeroPadding2D, _L.ZeroPadding3D),
    *(_L.Cropping1D, _L.Cropping2D, _L.Cropping3D),
    *(_L.GlobalMaxPooling1D, _L.GlobalMaxPooling2D, _L.GlobalMaxPooling3D),
    *(_L.GlobalAveragePooling1D, _L.GlobalAveragePooling2D),
    *(_L.GlobalAveragePooling3D, _L.Softmax),
)
_POOLING = (
    *(_L.MaxPooling1D, _L.MaxPooling2D, _L.MaxPooling3D),
    *(_L.AveragePooling1D, _L.AveragePooling2D, _L.AveragePooling3D),
)
_CONVOLUTIONS = (_L.Conv1D, _L.Conv2D, _L.Conv3D)
_TRANSPOSED = (_L.Conv1DTranspose, _L.Conv2DTranspose, _L.Conv3DTranspose)
_DEPTHWISE = (_L.DepthwiseConv1D, _L.DepthwiseConv2D)


def constant_of(layer: Any) -> float | None:
    """Return a bound on |F(x) - F(y)| / |x - y| for a layer F, in the Euclidean norm.

    Args:
        layer: A layer with weights, which is taken at inference. A custom class states
            its bound by a method `lipschitz_constant()`.

    Returns:
        The bound, or `None` if it is unknown.
    """
    if hasattr(layer, "lipschitz_constant"):
        return float(layer.lipschitz_constant())
    if getattr(layer, "quantization_mode", None) is not None:
        return None  # the layer rounds its inputs, so that its output jumps
    for kinds, rule in _RULES:
        if type(layer) in kinds:
            return rule(layer)
    return None


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(keras.ops.convert_to_numpy(tensor), "float64")


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
        return 1.0
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
    kernel = _array(layer.kernel)
    return float(np.linalg.svd(kernel, compute_uv=False).max(initial=0.0))


def _depthwise(layer: Any) -> float:
    kernel = _array(layer.kernel)
    *places, channels, multiplier = kernel.shape
    kernel = kernel.reshape(*places, 1, channels * multiplier)
    return convolution_bound(kernel, groups=channels)


def _normalization(layer: Any) -> float:
    scale = 1 / np.sqrt(_array(layer.moving_variance) + layer.epsilon)
    if layer.scale:
        scale = scale * np.abs(_array(layer.gamma))
    return float(scale.max())


def _pooling(layer: Any) -> float:
    """Return the bound of a pooling layer from the number of windows per element."""
    pairs = zip(layer.pool_size, layer.strides, strict=True)
    return math.sqrt(math.prod(math.ceil(size / stride) for size, stride in pairs))


def _leaky(layer: Any) -> float | None:
    if getattr(layer, "threshold", 0):
        return None  # the function jumps at the threshold
    slopes = abs(layer.negative_slope), 1.0
    return float(max(slopes))


_RULES: tuple[tuple[tuple[type, ...], Callable[[Any], float | None]], ...] = (
    (_MOVE_OR_DROP, lambda layer: 1.0),
    ((VAFActivation,), _vaf),
    ((_L.Activation,), _function),
    ((_L.ReLU, _L.LeakyReLU), _leaky),
    ((_L.PReLU,), lambda layer: float(max(1.0, np.abs(_array(layer.alpha)).max()))),
    ((_L.Dense,), _with_activation(_dense)),
    (
        _CONVOLUTIONS,
        _with_activation(
            lambda layer: convolution_bound(_array(layer.kernel), layer.groups)
        ),
    ),
    (
        _TRANSPOSED,
        _with_activation(lambda layer: convolution_bound(_array(layer.kernel))),
    ),
    (_DEPTHWISE, _with_activation(_depthwise)),
    ((_L.BatchNormalization,), _normalization),
    (_POOLING, _pooling),
    ((_L.Rescaling,), lambda layer: float(np.abs(_array(layer.scale)).max())),
)
