"""`WeightPaths`, which includes the surrounding layer in the paths of weights."""

import sys
from typing import Any

import keras

from keras_vaf.layers.keras_internals import (
    all_layers,
    inner_layers,
    outermost,
    own_variables,
)


class WeightPaths(keras.layers.Layer):
    """Base class of layers that create their weights in `__init__`.

    Keras sets the path of a weight when the weight is created. A layer that creates its
    weights in `__init__` does not know the layer that will contain it. Two such layers
    of the same name would then have weights with equal paths. This class sets the paths
    again as soon as the name scope of the layer is known: when it is built, or when a
    built layer that contains it lists its weights.
    """

    _has_final_paths = False

    @property
    def variables(self) -> list[keras.Variable]:
        """List of all variables of the layer (see `keras.layers.Layer`)."""
        if not self._has_final_paths:
            self._set_paths(sys._getframe(1).f_locals.get("self"))
        return super().variables

    @property
    def weights(self) -> list[keras.Variable]:
        """List of all weights of the layer (see `keras.layers.Layer`)."""
        if not self._has_final_paths:
            self._set_paths(sys._getframe(1).f_locals.get("self"))
        return super().weights

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Build the layer while it is loaded, before another layer contains it."""
        super().build_from_config(config)
        self._parent_path, self._has_final_paths = None, False

    def _set_paths(self, caller: Any = None) -> None:
        """Set the paths if the scope of this layer, or of the caller, is known.

        Keras does not tell a layer which layer contains it. Therefore `caller` is the
        object whose method asked for the weights.
        """
        scope = self._parent_path
        if scope is None and _contains(caller, self):
            outer = caller._parent_path
            scope = None if outer is None else f"{outer}/{caller.name}"
        if self._has_final_paths or scope is None:
            return
        self._has_final_paths = True
        for weight in own_variables(self):
            weight._path = f"{scope}/{self.name}/{weight.name}".lstrip("/")
        if keras.backend.backend() == "torch":
            self._track_variables()  # by their paths
            if _contains(caller, self):
                caller._track_variables()

    def _track_in_outer_layers(self) -> None:
        """Add new weights to all modules of PyTorch that contain this layer.

        A layer such as `Dense` lists its weights when it is built, before the first
        call builds its activation.
        """
        if keras.backend.backend() == "torch":
            for layer in all_layers(outermost(self)):
                layer._track_variables()


def _contains(outer: Any, layer: keras.layers.Layer) -> bool:
    return isinstance(outer, keras.layers.Layer) and any(
        part is layer for part in inner_layers(outer)
    )
