"""`FunctionConstraint`, the base class of constraints on a learned function."""

from collections.abc import Mapping
from typing import Any, ClassVar

from keras_vaf.types import Tensor


class FunctionConstraint:
    """Base class of constraints on the function that a layer has learned.

    Pass a constraint to a trainable activation as `function_constraint`. A subclass
    sets `layers`, the names of the layer classes that it supports, and `changes`, the
    names of the weights that it changes. It defines `project(layer, weights)`.

    Raises:
        ValueError: If the constraint does not support the layer.
    """

    layers: ClassVar[tuple[str, ...]] = ()
    changes: ClassVar[tuple[str, ...]] = ()

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if the constraint does not support a layer."""
        if not {kind.__name__ for kind in type(layer).__mro__} & {*self.layers}:
            raise ValueError(
                f"{type(self).__name__} is a constraint on the function of a "
                f"{' or '.join(self.layers)}. Received: {layer!r}"
            )

    def project(self, layer: Any, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return projected values of the weights in `changes`, given all weights."""
        raise NotImplementedError(f"{type(self).__name__} must define `project`.")

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "FunctionConstraint":
        """Return the constraint that a configuration describes."""
        return cls(**config)
