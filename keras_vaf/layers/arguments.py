"""`check_new` and other checks of the arguments of trainable activations."""

import inspect
from typing import Any

import keras

from keras_vaf.ops.activations import name_of
from keras_vaf.utils import did_you_mean

OF_EVERY_LAYER = (
    *("activity_regularizer", "autocast", "batch_input_shape", "dtype", "input_dim"),
    *("input_shape", "name", "trainable"),
)


# Names of other layers of Keras for our arguments.
_OF_OTHER_LAYERS = {"activation": "g", "shared_axes": "sharing", "units": "k"}


def signature_of(kind: Any) -> inspect.Signature:
    """Return the signature of the `__init__` of a class, without `self`."""
    _, *others = inspect.signature(kind.__init__).parameters.values()
    return inspect.Signature(others)


class SignatureOfInit:
    """Descriptor for `__signature__`: the signature of the class, not of a layer.

    A layer is called with an input, so `inspect.signature(layer)`, which
    `tf.function(layer)` uses, must return the signature of `__call__`.
    """

    def __get__(self, layer: Any, kind: type) -> inspect.Signature:
        """Return the signature of a class; a layer does not have this attribute."""
        if layer is not None:
            raise AttributeError("__signature__")
        return signature_of(kind)


def arguments_of_base(given: dict[str, Any], *own: str) -> dict[str, Any]:
    """Return the arguments of an `__init__` that its base class takes.

    Args:
        given: The `locals()` at the start of the `__init__`.
        *own: Names of the arguments that the base class does not take.
    """
    left_out = {"self", "__class__", *own}
    return {name: value for name, value in given.items() if name not in left_out}


def positional(kind: type) -> list[str]:
    """Return the names of the arguments of a class that can be given by position."""
    parameters = signature_of(kind).parameters.values()
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def check_new(kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Check the arguments of a new layer before its `__init__` runs.

    Args:
        kind: A class derived from `TrainableActivation`.
        args: Positional arguments.
        kwargs: Keyword arguments.

    Raises:
        ValueError: If an argument is a tensor, or has an unknown name.
    """
    for arg in args:
        if isinstance(arg, keras.KerasTensor) or keras.ops.is_tensor(arg):
            raise ValueError(
                f"{kind.__name__} is a class; a tensor must be given to a layer, not "
                "to the class. Use an instance, as in "
                f"`Dense(8, activation={kind.__name__}())`. "
                f"Received: a tensor of shape {tuple(arg.shape)}"
            )
    parameters = signature_of(kind).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        check_names(kind, kwargs, tuple(p.name for p in parameters))


def check_names(kind: Any, kwargs: dict[str, Any], known: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` for an argument with an unknown name.

    Args:
        kind: A class derived from `TrainableActivation`.
        kwargs: Keyword arguments.
        known: Names that are allowed in addition to those of every layer.
    """
    allowed = {*known, *OF_EVERY_LAYER}
    hints = sorted({*allowed, *signature_of(kind).parameters} - {"kwargs"})
    for name, value in kwargs.items():
        if name not in allowed:
            ours = _OF_OTHER_LAYERS.get(name, "")
            raise ValueError(
                f"{kind.__name__} does not have an argument of this name."
                f"{did_you_mean(ours if ours in allowed else name, hints)} "
                f"Received: {name}={value!r}"
            )


def representation(layer: Any) -> str:
    """Return the text of a layer: its class and arguments, such as k and g of a VAF."""
    given = {name: getattr(layer, name, None) for name in positional(type(layer))}
    given.pop("data_format", None)
    parts = {"name": layer.name, **given, "built": layer.built}
    text = ", ".join(f"{name}={_shown(value)}" for name, value in parts.items())
    return f"<{type(layer).__name__} {text}>"


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, str):
        return value
    name = name_of(value) or getattr(value, "__name__", "") if callable(value) else ""
    return name or repr(value)
