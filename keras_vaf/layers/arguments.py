"""Checks and texts of the arguments of trainable activations."""

import inspect
from typing import Any

import keras

from keras_vaf.ops.activations import name_of
from keras_vaf.utils import did_you_mean

OF_EVERY_LAYER = (
    *("activity_regularizer", "autocast", "batch_input_shape", "dtype", "input_dim"),
    *("input_shape", "name", "trainable"),
)


def signature_of(kind: Any) -> inspect.Signature:
    """Return the signature of the `__init__` of a class, without `self`."""
    _, *others = inspect.signature(kind.__init__).parameters.values()
    return inspect.Signature(others)


def positional(kind: type) -> list[str]:
    """Return the arguments of a class that a call may give without their names."""
    parameters = signature_of(kind).parameters.values()
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def check_new(kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Check the arguments of a new layer before its `__init__` does.

    Args:
        kind: A class derived from `TrainableActivation`.
        args: Arguments without names.
        kwargs: Arguments with names.

    Raises:
        ValueError: If one is a tensor, or has an unknown name.
    """
    for arg in args:
        if isinstance(arg, keras.KerasTensor) or keras.ops.is_tensor(arg):
            raise ValueError(
                f"{kind.__name__} is a class, and a tensor was given to it instead of "
                "to a layer: use an instance, as in "
                f"`Dense(8, activation={kind.__name__}())`. "
                f"Received: a tensor of shape {tuple(arg.shape)}"
            )
    parameters = signature_of(kind).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        check_names(kind, kwargs, tuple(p.name for p in parameters))


def check_names(kind: Any, kwargs: dict[str, Any], known: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` for the name of an argument that no layer has.

    Args:
        kind: A class derived from `TrainableActivation`.
        kwargs: Arguments with names.
        known: Names that are allowed besides those of every layer.
    """
    allowed = {*known, *OF_EVERY_LAYER}
    hints = sorted({*allowed, *signature_of(kind).parameters} - {"kwargs"})
    for name, value in kwargs.items():
        if name not in allowed:
            raise ValueError(
                f"{kind.__name__} has no argument of this name."
                f"{did_you_mean(name, hints)} Received: {name}={value!r}"
            )


def representation(layer: Any) -> str:
    """Return name and arguments of a layer, such as k, g and sharing of a VAF."""
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
