"""`get`, which finds a start by its identifier."""

from typing import Any

import keras

from keras_vaf.initializers.known_starts import FunctionStart, GStart
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.start import Start
from keras_vaf.ops.functions import Function, get_function, get_registered

Identifier = str | Function | Start | dict[str, Any]
"""The types that `get` accepts."""


def get(identifier: Identifier, saved: bool = False) -> Start:
    """Return the start that an identifier stands for.

    Args:
        identifier: `"g"`; `"random"`; the name of an element-wise Keras activation;
            `"cos"`, `"erf"`, `"relu_squared"`, `"sin"` or `"square"`; a registered
            function or its name; a `Start`, its configuration, or the registered name
            of its class (`"keras_vaf>RandomStart"`).
        saved: Whether the start is saved with a model, so that a function must have a
            name or be registered.

    Raises:
        ValueError: If the identifier is not one of these.

    Example:

    >>> get("random").get_config()
    {'seed': None, 'rescale': False}
    """
    if isinstance(identifier, dict):
        return get(keras.saving.deserialize_keras_object(identifier), saved)
    others = "g", "random"
    if isinstance(identifier, Start):
        if saved and isinstance(identifier, FunctionStart):
            get_function(identifier.function, "initialization", others)
        return identifier
    kind: Any = None
    if isinstance(identifier, str):
        named = {"g": GStart, "random": RandomStart}
        kind = named.get(identifier) or get_registered(identifier)
    if isinstance(kind, type) and issubclass(kind, Start):
        return kind()
    given: Any = identifier if isinstance(identifier, type) else type(identifier)
    of_keras = given is str and hasattr(keras.initializers, str(identifier))
    if of_keras or issubclass(given, Start | keras.initializers.Initializer):
        raise ValueError(
            "`initialization` must be a name, a function or a start, such as "
            "keras_vaf.initializers.RandomStart(). An initializer of Keras sets one "
            "weight: use `alpha_initializer`. "
            f"Received: initialization={identifier!r}"
        )
    get_function(identifier, "initialization", others, saved)
    return FunctionStart(identifier)
