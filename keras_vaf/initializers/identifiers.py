"""`get`, which finds a start by its identifier."""

from typing import Any

import keras

from keras_vaf.initializers.known_starts import FunctionStart, GStart
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.start import Start
from keras_vaf.ops.functions import Function, get_function, get_registered

Identifier = str | Function | Start | dict[str, Any]
"""The types that `get` accepts."""


def get(identifier: Identifier) -> Start:
    """Return the start that an identifier stands for.

    Args:
        identifier: `"g"`; `"random"`; the name of an element-wise Keras activation;
            `"cos"`, `"erf"`, `"relu_squared"`, `"sin"` or `"square"`; a registered
            function or its name; a `Start`, its configuration, or the registered name
            of its class (`"keras_vaf>RandomStart"`).

    Returns:
        A `Start`.

    Raises:
        ValueError: If the identifier is not one of these.

    Example:

    >>> get("random").get_config()
    {'seed': None, 'rescale': False}
    """
    if isinstance(identifier, dict):
        return get(keras.saving.deserialize_keras_object(identifier))
    if isinstance(identifier, Start):
        return identifier
    kind = get_registered(identifier) if isinstance(identifier, str) else None
    if isinstance(kind, type) and issubclass(kind, Start):
        return kind()
    _check(identifier)
    if identifier == "g":
        return GStart()
    if identifier == "random":
        return RandomStart()
    get_function(identifier, "initialization", ("g", "random"), saved=False)
    return FunctionStart(identifier)


def _check(identifier: Any) -> None:
    """Raise a `ValueError` for Keras initializers, and for the class of a start."""
    kind = identifier if isinstance(identifier, type) else type(identifier)
    if issubclass(kind, Start):
        raise ValueError(
            "`initialization` must be a start, not its class: "
            f"{kind.__name__}(). Received: initialization={identifier!r}"
        )
    named = kind is str and hasattr(keras.initializers, identifier)
    if named or issubclass(kind, keras.initializers.Initializer):
        raise ValueError(
            "`initialization` sets four weights that make one function, which an "
            "initializer of Keras cannot; use keras_vaf.initializers.RandomStart or "
            "another Start, or give an initializer to one weight: `alpha_initializer`. "
            f"Received: initialization={identifier!r}"
        )
