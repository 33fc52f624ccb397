"""Names for what the type checker cannot see."""

from typing import Any, TypeAlias

# A tensor of whichever backend Keras runs on; naming one would import it.
Tensor: TypeAlias = Any
