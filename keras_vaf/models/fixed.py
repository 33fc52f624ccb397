"""`fixed`, which describes a fixed activation, and tests such as `is_activation`."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.start import KnownStart
from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import inner_layers
from keras_vaf.models.changes import KeptError
from keras_vaf.ops.activations import KERAS_NAMES, name_of
from keras_vaf.ops.functions import GRID, evaluate, recognize, registered_name

_L = keras.layers
_BUILT_IN = (
    *(_L.Dense, _L.EinsumDense, _L.DepthwiseConv1D, _L.DepthwiseConv2D),
    *(_L.Conv1D, _L.Conv2D, _L.Conv3D, _L.SeparableConv1D, _L.SeparableConv2D),
    *(_L.Conv1DTranspose, _L.Conv2DTranspose, _L.Conv3DTranspose),
)
ACTIVATION_LAYERS = (
    *(_L.Activation, _L.ELU, _L.LeakyReLU, _L.PReLU, _L.ReLU, _L.Softmax),
    TrainableActivation,
)
ACTIVATION_NAME = re.compile(
    r"(?<!recurrent_)(?<![a-z])act(ivation)?(?![a-z]|_quantizer)"
)
"""Names of attributes and arguments that hold activations, but not those of gates."""
_OPERATIONS = {name.replace("_", ""): name for name in KERAS_NAMES}


@dataclasses.dataclass(frozen=True)
class Fixed:
    """A fixed activation.

    Args:
        name: Name for reports, such as `"relu"` or `"LeakyReLU(0.3)"`.
        start: Start of a VAF that replaces the activation.
        sampled: Whether the start only approximates the activation.
    """

    name: str
    start: KnownStart
    sampled: bool = False


def is_linear(activation: Any) -> bool:
    """Return whether an activation is the identity."""
    if isinstance(activation, keras.layers.Activation):
        return is_linear(activation.activation)
    return activation is None or activation is keras.activations.linear


def built_in(layer: Any) -> bool:
    """Return whether a Keras layer, or a class derived from it, takes an activation."""
    return isinstance(layer, _BUILT_IN)


def has_built_in(layer: Any) -> bool:
    """Return whether a Keras layer ends with a built-in activation."""
    return type(layer) in _BUILT_IN and not is_linear(layer.activation)


def is_activation(layer: Any) -> bool:
    """Return whether a layer or an operation is only an activation."""
    if isinstance(layer, keras.layers.Layer):
        return isinstance(layer, ACTIVATION_LAYERS) and not is_linear(layer)
    return _operation_name(layer) not in (None, "linear")


def last_activation(layer: Any) -> Any:
    """Return the activation with which a layer or an operation ends, or `None`.

    It is a built-in activation, or the layer or operation itself.
    """
    if has_built_in(layer):
        return layer.activation
    return layer if is_activation(layer) else None


def applied(layer: Any) -> Any:
    """Return the activation that an activation layer applies, or the layer itself."""
    own = getattr(layer, "activation", None)
    return own if isinstance(own, keras.layers.Layer) else layer


def label(activation: Any) -> str:
    """Return the name of an activation: a layer, an operation or a function."""
    if isinstance(activation, keras.layers.Activation):
        return label(activation.activation)
    if isinstance(activation, keras.layers.Layer):
        units = f"(k={activation.k})" if hasattr(activation, "k") else ""
        return f"{type(activation).__name__}{units}"
    name = getattr(activation, "__name__", None) or _operation_name(activation)
    return name or type(activation).__name__


def held_by(layer: Any) -> dict[str, Any]:
    """Return the activations that are attributes of a layer, by attribute name.

    Args:
        layer: The layer.
    """
    held = {}
    for name, value in attributes_of(layer).items():
        # An activation layer under another name is an inner layer.
        inner = isinstance(value, keras.layers.Layer) and name != "activation"
        if not ACTIVATION_NAME.search(name) or inner or not callable(value):
            continue
        if not isinstance(layer, keras.Model) and not is_linear(value):
            held[name] = value
    return held


def attributes_of(layer: Any) -> dict[str, Any]:
    """Return the attributes of a layer; PyTorch stores layers in `_modules`."""
    return {**vars(layer), **vars(layer).get("_modules", {})}


def activations_inside(layer: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the activations inside a layer, each with the path of its layer."""
    if isinstance(layer, keras.layers.RNN):
        return
    held = held_by(layer).values()
    yield from ((path, activation) for activation in held)
    for part in inner_layers(layer):
        inner = f"{path}/{part.name}"
        if is_activation(part) and all(part is not each for each in held):
            yield inner, part
        elif not is_activation(part):
            yield from activations_inside(part, inner)


def describes_activation(value: Any) -> bool:
    """Return whether a part of a configuration describes an activation layer."""
    if not isinstance(value, dict):
        return False
    kind = keras.saving.get_registered_object(value.get("registered_name") or "")
    kind = kind or getattr(keras.layers, str(value.get("class_name")), None)
    return isinstance(kind, type) and issubclass(kind, ACTIVATION_LAYERS)


def activation_in(value: Any) -> Any:
    """Return the activation that a part of a configuration describes, or `None`."""
    try:
        if isinstance(value, dict):
            return keras.saving.deserialize_keras_object(value)
        return keras.activations.get(value)
    except (TypeError, ValueError):
        return None


def fixed(activation: Any) -> Fixed:
    """Describe a fixed activation.

    Args:
        activation: A layer or an operation for which `is_activation` is true, or the
            function that is built into another layer.

    Raises:
        KeptError: With the reason, if no VAF can start there.
    """
    if isinstance(activation, keras.layers.Activation):
        return fixed(activation.activation)
    if isinstance(activation, keras.layers.Softmax):
        raise KeptError("softmax looks at several elements at once")
    if isinstance(activation, keras.layers.ELU) and activation.alpha != 1:
        return _sampled(f"ELU({activation.alpha:g})", activation)
    if isinstance(activation, keras.layers.ELU):
        return _named("elu")
    if hasattr(activation, "threshold") and hasattr(activation, "max_value"):
        return _relu(
            activation.negative_slope, activation.max_value, activation.threshold
        )
    if hasattr(activation, "negative_slope"):
        return _leaky(activation.negative_slope)
    return _function(activation)


def _named(name: str) -> Fixed:
    return Fixed(name, FunctionStart(name))


def _leaky(slope: float) -> Fixed:
    return Fixed(f"LeakyReLU({slope:g})", PiecewiseLinearStart((0,), (slope, 1)))


def _relu(slope: float, maximum: float | None, threshold: float) -> Fixed:
    if threshold:
        raise KeptError("it jumps at its threshold, and a VAF is continuous")
    if maximum is None:
        return _leaky(slope) if slope else _named("relu")
    if not slope and maximum == 6:
        return _named("relu6")
    name = f"ReLU(max_value={maximum:g}, negative_slope={slope:g})"
    return Fixed(name, PiecewiseLinearStart((0, maximum), (slope, 1, 0)))


def _function(activation: Callable[[Any], Any]) -> Fixed:
    """Describe a function, or an operation that keras.ops put into a graph."""
    name = name_of(activation)
    if name is not None:
        return _named(name)
    function = getattr(activation, "__name__", "")
    if getattr(keras.activations, function, None) is activation:
        raise KeptError(f"{function} looks at several elements at once")
    row, column = evaluate(activation, GRID[None]), evaluate(activation, GRID[:, None])
    if row.shape != (1, len(GRID)) or not np.array_equal(row[0], column[:, 0]):
        raise KeptError("it does not act on each element alone")
    operation = isinstance(activation, keras.Operation)
    known = None if operation else registered_name(activation) and activation
    known = known or recognize(activation)
    if known is not None:
        return Fixed(label(activation), FunctionStart(known))
    return _sampled(label(activation), activation)


def _operation_name(operation: Any) -> str | None:
    """Name of the activation that an operation of keras.ops computes, if it is one."""
    if isinstance(operation, keras.layers.Layer):
        return None
    if not isinstance(operation, keras.Operation):
        return None
    return _OPERATIONS.get(type(operation).__name__.lower())


def _sampled(name: str, function: Callable[[Any], Any]) -> Fixed:
    """Describe a function that no file can name by lines between its values."""
    x = np.linspace(-8, 8, 161)
    y = evaluate(function, x[:, None])[:, 0]
    slopes = np.diff(y) / np.diff(x)
    lines = PiecewiseLinearStart(x[1:-1].tolist(), slopes.tolist(), y[1])
    return Fixed(name, lines, sampled=True)
