"""Type aliases, such as `Tensor`, for types that no type checker can know."""

from typing import Any, TypeAlias

# A tensor of the current backend. A more precise type would import that backend.
Tensor: TypeAlias = Any
