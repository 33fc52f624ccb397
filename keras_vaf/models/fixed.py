"""`fixed`, which describes a fixed activation, and tests such as `is_activation`."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.start import KnownStart
from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import all_layers, inner_layers
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.changes import KeptError, NoExactStartError
from keras_vaf.ops import functions
from keras_vaf.ops.activations import KERAS_NAMES, name_of

_L = keras.layers
BUILT_IN = (
    *(_L.Dense, _L.EinsumDense, _L.DepthwiseConv1D, _L.DepthwiseConv2D),
    *(_L.Conv1D, _L.Conv2D, _L.Conv3D, _L.SeparableConv1D, _L.SeparableConv2D),
    *(_L.Conv1DTranspose, _L.Conv2DTranspose, _L.Conv3DTranspose),
)
_ACTIVATION_LAYERS = (
    *(_L.Activation, _L.ELU, _L.LeakyReLU, _L.PReLU, _L.ReLU, _L.Softmax),
    TrainableActivation,
)
ACTIVATION_NAME = re.compile(
    r"(?<!recurrent_)(?<![a-z])act(ivation)?(?![a-z]|_quantizer)"
)
"""Names of attributes and arguments that hold activations, but not those of gates."""
_OPERATIONS = {name.replace("_", ""): name for name in KERAS_NAMES}


def is_linear(activation: Any) -> bool:
    """Return whether an activation is the identity."""
    if isinstance(activation, keras.layers.Activation):
        return is_linear(activation.activation)
    return activation is None or activation is keras.activations.linear


def has_built_in(layer: Any) -> bool:
    """Return whether a Keras layer ends with a built-in activation."""
    return type(layer) in BUILT_IN and not is_linear(layer.activation)


def is_activation(layer: Any) -> bool:
    """Return whether a layer or an operation is only an activation."""
    if isinstance(layer, keras.layers.Layer):
        return isinstance(layer, _ACTIVATION_LAYERS) and not is_linear(layer)
    return _operation_name(layer) not in ("", "linear")


def label(activation: Any) -> str:
    """Return the name of an activation: a layer, an operation or a function."""
    if isinstance(activation, keras.layers.Activation):
        return label(activation.activation)
    units = f"(k={activation.k})" if hasattr(activation, "k") else ""
    name = getattr(activation, "__name__", "") or _operation_name(activation)
    return name or f"{type(activation).__name__}{units}"


def _operation_name(operation: Any) -> str:
    """Return the activation that an operation of `keras.ops` computes, or `""`."""
    layer = isinstance(operation, keras.layers.Layer)
    if layer or not isinstance(operation, keras.Operation):
        return ""
    return _OPERATIONS.get(type(operation).__name__.lower(), "")


def attributes_of(layer: Any) -> dict[str, Any]:
    """Return the attributes of a layer; PyTorch stores layers in `_modules`."""
    return {**vars(layer), **vars(layer).get("_modules", {})}


def held_by(layer: Any) -> dict[str, Any]:
    """Return the activations that are attributes of a layer, by attribute name."""
    if isinstance(layer, keras.Sequential | keras.Function):
        return {}  # its graph has them
    return {
        name: value
        for name, value in attributes_of(layer).items()
        if ACTIVATION_NAME.search(name) and callable(value) and not is_linear(value)
        # An activation layer under another name is an inner layer.
        if name == "activation" or not isinstance(value, keras.layers.Layer)
    }


def activations_inside(layer: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the activations inside a layer, each with the path of its layer."""
    if isinstance(layer, keras.layers.RNN):
        return
    held = held_by(layer).values()
    yield from ((path, activation) for activation in held)
    for part in inner_layers(layer):
        inner = f"{path}/{part.name}"
        if not is_activation(part):
            yield from activations_inside(part, inner)
        elif all(part is not each for each in held):
            yield inner, part


def activation_in(value: Any, key: str, outer: Any, path: str) -> Any:
    """Return the activation that an entry of a configuration describes, or `None`.

    An entry that is not named as an activation must describe an activation layer. If
    the activation has weights, it is that of its name inside the outer layer. Of
    several, it is the attribute `key` of the part at this path.
    """
    named = ACTIVATION_NAME.search(key)
    with contextlib.suppress(TypeError, ValueError):
        if not isinstance(value, dict):
            return keras.activations.get(value) if named else None
        kind = keras.saving.get_registered_object(value.get("registered_name") or "")
        kind = kind or getattr(keras.layers, str(value.get("class_name")), None)
        of_layer = isinstance(kind, type) and issubclass(kind, _ACTIVATION_LAYERS)
        if named or of_layer:
            found = keras.saving.deserialize_keras_object(value)
            own = find_layers(outer, (TrainableActivation, keras.layers.PReLU)).values()
            same = [e for e in own if e.name == getattr(found, "name", "")]
            if len(same) > 1:
                name = path.rpartition("/")[2]
                holders = [each for each in all_layers(outer) if each.name == name]
                held = {id(getattr(holder, key, None)) for holder in holders}
                return next((each for each in same if id(each) in held), None)
            return same[0] if same else found
    return None


def fixed(activation: Any) -> tuple[str, KnownStart]:
    """Return the name of a fixed activation and the start of a VAF there.

    If no VAF can start there, a `KeptError` has the reason.
    """
    if isinstance(activation, keras.layers.Activation):
        return fixed(activation.activation)
    if isinstance(activation, keras.layers.Softmax):
        raise KeptError("softmax looks at several elements at once")
    if isinstance(activation, keras.layers.ELU) and activation.alpha == 1:
        return "elu", FunctionStart("elu")
    if not hasattr(activation, "negative_slope"):
        return _function(activation)
    slope = activation.negative_slope
    maximum = getattr(activation, "max_value", None)
    if getattr(activation, "threshold", 0):
        raise KeptError("it jumps at its threshold, and a VAF is continuous")
    if maximum == 0:
        raise KeptError("its largest value is 0")
    if hasattr(activation, "max_value") and not slope and maximum in (None, 6):
        name = "relu6" if maximum else "relu"
        return name, FunctionStart(name)
    if maximum is None:
        return f"LeakyReLU({slope:g})", PiecewiseLinearStart((0,), (slope, 1))
    name = f"ReLU(max_value={maximum:g}, negative_slope={slope:g})"
    return name, PiecewiseLinearStart((0, maximum), (slope, 1, 0))


def _function(function: Callable[[Any], Any]) -> tuple[str, KnownStart]:
    """Describe a function, or an operation that keras.ops put into a graph."""
    name = name_of(function)
    if name is not None:
        return name, FunctionStart(name)
    if isinstance(function, keras.layers.Layer):
        raise NoExactStartError("no g is known for which the start is exact")
    x, alone = functions.GRID[None], False
    with contextlib.suppress(Exception):  # the code of users may raise any error
        row, some = (functions.evaluate(function, each) for each in (x, x.T[:-4]))
        alone = row.shape == x.shape and np.allclose(row.T[:-4], some, equal_nan=True)
    if not alone:
        raise KeptError(f"{label(function)} looks at several elements at once")
    operation = isinstance(function, keras.Operation)
    named = not operation and functions.registered_name(function)
    known = function if named else functions.recognize(function)
    if known is None:
        reason = "no g is known for which the start is exact"
        raise NoExactStartError(f"{reason}. {functions.HOW_TO_REGISTER}")
    return label(function), FunctionStart(known)
