"""`Tensor`, a tensor of the current backend, for annotations."""

from typing import Any, TypeAlias

# A more precise type would import the backend.
Tensor: TypeAlias = Any
