"""`FunctionConstraint`, the base class of constraints on a learned function."""

from collections.abc import Mapping
from typing import Any, ClassVar

from keras_vaf.types import Tensor


class FunctionConstraint:
    """A set of functions in which an activation is kept.

    It is given to a trainable activation as `function_constraint`. A subclass sets
    `layers`, the names of the classes that it is for, and `changes`, the names of the
    weights that it changes. It defines `project(layer, weights)`.

    Raises:
        ValueError: If the layer is of another class.
    """

    layers: ClassVar[tuple[str, ...]] = ()
    changes: ClassVar[tuple[str, ...]] = ()

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if the constraint is not for a layer."""
        if not {kind.__name__ for kind in type(layer).__mro__} & {*self.layers}:
            raise ValueError(
                f"{type(self).__name__} is a constraint on the function of a "
                f"{' or '.join(self.layers)}. Received: {layer!r}"
            )

    def project(self, layer: Any, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return allowed values of the weights in `changes`, given all weights."""
        raise NotImplementedError(f"{type(self).__name__} must define `project`.")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "FunctionConstraint":
        """Return the constraint from what `get_config` returned."""
        return cls(**config)
