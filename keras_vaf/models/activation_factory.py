"""`Maker` makes the activations that `convert` puts in place of others."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import FunctionStart
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.growing import grow_layer
from keras_vaf.models.surgery.cloning import Node
from keras_vaf.models.surgery.fixed_activations import Fixed, fixed
from keras_vaf.models.surgery.replacement import KeptError, NewActivation
from keras_vaf.models.vaf_equivalent import to_vaf
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, get_function

SAME = "same"
_GRID = np.linspace(-5, 5, 501)


class Maker:
    """Makes the activations that replace others.

    Args:
        to: A class of `keras_vaf.layers`, or a function from a layer to a new one.
        k: Number of hidden units of a VAF.
        g: Fixed function of a VAF's hidden units, or `"same"`.
        sharing: As for `keras_vaf.layers.TrainableActivation`.
        data_format: Where the model has its channels; `None` if nothing tells.

    Raises:
        ValueError: If `to` is none of these.
    """

    def __init__(
        self,
        to: type[TrainableActivation] | Callable[[Any], keras.layers.Layer],
        k: int,
        g: str | Function,
        sharing: str | Sequence[int],
        data_format: str | None,
    ) -> None:
        self._family = isinstance(to, type) and issubclass(to, TrainableActivation)
        if not self._family and (isinstance(to, type) or not callable(to)):
            raise ValueError(
                "`to` must be a class of keras_vaf.layers for functions of one number, "
                "or a function that takes a layer and returns the activation layer to "
                f"replace its activation. Received: to={to!r}"
            )
        self._to: Any = to
        self._k, self._g = k, g
        self._arguments = {"sharing": sharing, "data_format": data_format}
        # Most activations of a model are the same function.
        self._known: dict[tuple[str, str], tuple[dict[str, Any], float]] = {}

    def make(self, activation: Any, layer: Node, name: str) -> NewActivation:
        """Return a new activation.

        Args:
            activation: A fixed activation: a layer, an operation or a function.
            layer: The layer that it is, or is built into.
            name: Name of the new layer.

        Raises:
            KeptError: If none can start there.
            ValueError: If k is too small for it, or `to` does not return a layer.
        """
        arguments = {"name": name, "dtype": getattr(layer, "dtype_policy", None)}
        if isinstance(activation, keras.layers.PReLU) and self._to is VAFActivation:
            return self._like_prelu(activation, arguments)
        try:
            found = fixed(activation)
        except ValueError as reason:
            raise KeptError(str(reason)) from reason
        if self._family:
            key = (found.name, str(found.start.get_config()))
            if key not in self._known:
                start = self._start(found)
                self._known[key] = (start, self._measure(found, start))
            start, error = self._known[key]
            new = self._to(**self._arguments, **start, **arguments)
            return NewActivation(new, found.name, self._to.__name__, error)
        new = self._to(layer)
        if not isinstance(new, keras.layers.Layer):
            raise ValueError(
                "`to` must return a layer. "
                f"Received: {new!r} for the layer {layer.name!r}"
            )
        return NewActivation(new, found.name, type(new).__name__)

    def _start(self, found: Fixed) -> dict[str, Any]:
        """Return the arguments that say where an activation starts."""
        function = getattr(found.start, "function", None)
        if issubclass(self._to, VAFActivation):
            g = self._same(found) if self._g == SAME else self._g
            return {"k": self._k, "g": g, "initialization": function or found.start}
        starts = "initialization" in inspect.signature(self._to).parameters
        return {"initialization": function} if starts and function else {}

    def _same(self, found: Fixed) -> str | Function:
        """Return the function itself, but relu for one made of straight lines."""
        start = found.start
        if isinstance(start, FunctionStart):
            lines = elementwise(get_function(start.function, "g")).lines
            return start.function if lines is None else "relu"
        return "relu"

    def _measure(self, found: Fixed, start: dict[str, Any]) -> float:
        """Return the largest error of a function, however many of it the layer has."""
        probe = self._to(**start)
        probe.build((None, 1))
        difference = probe.function(_GRID).ravel() - found.start.target(_GRID)
        return float(np.max(np.abs(difference)))

    def _like_prelu(
        self, layer: keras.layers.PReLU, arguments: dict[str, Any]
    ) -> NewActivation:
        """Return a VAF with as many functions as a PReLU has slopes."""
        if self._g not in ("relu", SAME, keras.activations.relu):
            raise KeptError("only a VAF with g='relu' starts at its slopes")
        if not layer.weights:
            raise KeptError("it has no slopes before it is built")
        grown = grow_layer(to_vaf(layer), self._k, **arguments)
        return NewActivation(grown, "PReLU", "VAFActivation", 0.0)
