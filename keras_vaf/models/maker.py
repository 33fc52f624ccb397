"""`Maker`, which makes the new activations in the places of others."""

import inspect
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.initializers.start import INSIDE, KnownStart
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.models.changes import Draft, KeptError
from keras_vaf.models.fixed import fixed
from keras_vaf.models.vaf_equivalent import built_shape, to_vaf
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import get_function


class Maker:
    """Makes new activations for a model. Its other arguments are those of `convert`."""

    def __init__(
        self, model: keras.Model, to: Any, k: Any, g: Any, sharing: Any = "layer"
    ) -> None:
        kinds = inspect.getmro(to) if isinstance(to, type) else ()
        self._family, self._vaf = TrainableActivation in kinds, VAFActivation in kinds
        if not self._family and (kinds or not callable(to)):
            raise ValueError(
                "`to` must be an element-wise class of keras_vaf.layers, or a function "
                "that takes a layer and returns the activation layer to replace its "
                f"activation. Received: to={to!r}"
            )
        self._given = {n: v for n, v in {"k": k, "g": g}.items() if v is not None}
        if self._given and not self._vaf:
            raise ValueError(
                "`k` and `g` are arguments of VAFActivation, and `to` makes a layer of "
                f"another class. Received: to={to!r}, {self._given}"
            )
        formats = (getattr(each, "data_format", None) for each in all_layers(model))
        data_format = next(filter(None, formats), None)
        self._to, self._shared = to, {"sharing": sharing, "data_format": data_format}

    def make(self, change: Draft) -> None:
        """Add the new activation to the change of a fixed one."""
        policy = getattr(change.holder, "dtype_policy", None)
        # A quantized layer names the policy that it had before.
        policy = getattr(policy, "name", "").partition("_from_")[2] or policy
        named = {"name": change.name, "dtype": policy}
        try:
            if not self._family:
                change.before = fixed(change.old)[0]
                change.new = self._to(change.holder)
            elif isinstance(change.old, keras.layers.PReLU) and self._vaf:
                change.new, change.error = self._like_prelu(change.old, named), 0.0
            else:
                change.before, start = fixed(change.old)
                arguments = self._start(start)
                change.new = self._to(**arguments, **self._shared, **named)
                change.starts = [start] if self._vaf else ()
                probe = self._to(**arguments)
                probe.build((None, 1))
                difference = probe.function(INSIDE).ravel() - start.target(INSIDE)
                change.error = float(np.max(np.abs(difference)))
        except ValueError as reason:
            message = f"The activation of {change.layer!r}: {reason}"
            raise ValueError(message) from reason
        if not isinstance(change.new, keras.layers.Layer):
            raise ValueError(f"`to` must return a layer. Received: {change.new!r}")
        change.after = type(change.new).__name__

    def _start(self, start: KnownStart) -> dict[str, Any]:
        """Return the arguments that set the function at which an activation starts."""
        function = getattr(start, "function", None)
        if not self._vaf:
            takes = "initialization" in inspect.signature(self._to).parameters
            return {"initialization": function} if takes and function else {}
        known = None if function is None else get_function(function, "g")
        straight = known is None or elementwise(known).lines
        g: Any = self._given.get("g", "relu" if straight else function)
        same = get_function(g, "g") is known
        initialization = "g" if same else function or start
        return {**self._given, "g": g, "initialization": initialization}

    def _like_prelu(self, layer: Any, named: dict[str, Any]) -> VAFActivation:
        """Return a VAF with one function per slope of a PReLU."""
        if self._given.get("g") not in (None, "relu", keras.activations.relu):
            raise KeptError("only a VAF with g='relu' starts at its slopes")
        if not layer.weights:
            raise KeptError("it has no slopes before it is built")
        equal = to_vaf(layer)  # with two hidden units and no spare ones
        start = PiecewiseLinearStart((0,), (0.25, 1))
        arguments = {**self._given, "initialization": start, **named}
        vaf = VAFActivation(sharing=equal.sharing, **arguments)
        vaf.build(built_shape(equal))
        weights = vaf.get_weights()
        weights[2][..., :2] = equal.get_weights()[2]  # beta
        vaf.set_weights(weights)
        return vaf
