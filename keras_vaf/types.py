"""Type aliases: `Tensor`, and what an argument of a layer accepts."""

from collections.abc import Callable
from typing import Any, TypeAlias

import keras

# A tensor of the current backend. A more precise type would import that backend.
Tensor: TypeAlias = Any

# An object, its name or its configuration, as for every layer of Keras.
Regularizer: TypeAlias = (
    keras.regularizers.Regularizer | Callable[[Any], Any] | str | dict[str, Any]
)
Constraint: TypeAlias = (
    keras.constraints.Constraint | Callable[[Any], Any] | str | dict[str, Any]
)
Initializer: TypeAlias = (
    keras.initializers.Initializer | Callable[..., Any] | str | dict[str, Any]
)
DType: TypeAlias = str | keras.DTypePolicy
