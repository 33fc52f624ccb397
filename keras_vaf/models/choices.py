"""`Selection` and `Maker`, the layers and the new activations that a user chose."""

import fnmatch
import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.start import INSIDE
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.changes import Change, KeptError
from keras_vaf.models.fixed import Fixed, fixed
from keras_vaf.models.rebuild import Place
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, get_function
from keras_vaf.utils import did_you_mean

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""


class Selection:
    """The layers of a model, or the modules of a module of PyTorch, that a user chose.

    Args:
        layers: A selector or a sequence of selectors; `None` selects all layers.

    Raises:
        ValueError: If `layers` is not one of these.
    """

    def __init__(self, layers: Selector | Sequence[Selector] | None) -> None:
        self._selectors: Sequence[Any]
        self._selectors = layers if isinstance(layers, tuple | list) else [layers]
        for each in self._selectors:
            if not (each is None or isinstance(each, str) or callable(each)):
                raise ValueError(
                    "`layers` must be names or patterns of names, classes of layers, "
                    f"or functions of a layer. Received: layers={layers!r}"
                )

    def takes(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected."""

        def fits(selector: Any) -> bool:
            if isinstance(selector, str):
                return fnmatch.fnmatchcase(path, selector)
            if isinstance(selector, type):
                return isinstance(layer, selector)
            return selector is None or bool(selector(layer))

        return self.names(layer, path) or any(map(fits, self._selectors))

    def names(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected by its full name."""
        # A module of PyTorch has a path only.
        return path in self._selectors or getattr(layer, "name", "") in self._selectors

    def check(self, names: Collection[str], paths: Collection[str]) -> None:
        """Raise a `ValueError` for a name that does not match any layer.

        Args:
            names: Names of the layers, which the message lists.
            paths: Paths of layers.
        """
        for selector in self._selectors:
            known = {*names, *paths}
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}.{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )


class Maker:
    """Makes the new activations that replace fixed ones.

    Args:
        to: A class of `keras_vaf.layers`, or a function from a layer to a new one.
        k: Number of hidden units of a VAF, or `None` for its default.
        g: Fixed function of a VAF's hidden units, or `None` for one that makes the
            start exact.
        sharing: As for `keras_vaf.layers.TrainableActivation`.
        data_format: Position of the model's channel axis; `None` if it is unknown.

    Raises:
        ValueError: If `to` is not one of these, or if k or g is given and `to` does not
            take it.
    """

    def __init__(
        self,
        to: type[TrainableActivation] | Callable[[Any], keras.layers.Layer],
        k: int | None,
        g: str | Function | None,
        sharing: str | Sequence[int],
        data_format: str | None,
    ) -> None:
        self._to: Any = to
        kinds = inspect.getmro(to) if isinstance(to, type) else ()
        self._family, self._vaf = TrainableActivation in kinds, VAFActivation in kinds
        if not self._family and (isinstance(to, type) or not callable(to)):
            raise ValueError(
                "`to` must be an element-wise class of keras_vaf.layers, or a function "
                "that takes a layer and returns the activation layer to replace its "
                f"activation. Received: to={to!r}"
            )
        self._given: dict[str, Any] = {
            n: v for n, v in (("k", k), ("g", g)) if v is not None
        }
        if self._given and not self._vaf:
            raise ValueError(
                "`k` and `g` are arguments of VAFActivation, and `to` makes a layer of "
                f"another class. Received: to={to!r}, {self._given}"
            )
        self._arguments = {"sharing": sharing, "data_format": data_format}

    def make(self, place: Place) -> Change:
        """Return the change of a fixed activation to a new one.

        Raises:
            KeptError: If no activation can start at this function.
            ValueError: If k is too small for the function, or if `to` does not return a
                layer.
        """
        activation, layer = place.activation, place.layer
        policy = getattr(layer, "dtype_policy", None)
        # A quantized layer names the policy that it had before.
        policy = getattr(policy, "name", "").partition("_from_")[2] or policy
        named = {"name": place.name, "dtype": policy}
        if isinstance(activation, keras.layers.PReLU) and self._vaf:
            new: Any = self._like_prelu(activation, named)
            return Change(place.path, "PReLU", "VAFActivation", 0.0, new=new)
        found = fixed(activation)
        if not self._family:
            new = self._to(layer)
            if not isinstance(new, keras.layers.Layer):
                raise ValueError(
                    f"`to` must return a layer. Received: {new!r} for {layer.name!r}"
                )
            return Change(place.path, found.name, type(new).__name__, new=new)
        start = self._start(found)
        new = self._to(**self._arguments, **start, **named)
        probe = self._to(**start)
        probe.build((None, 1))
        difference = probe.function(INSIDE).ravel() - found.start.target(INSIDE)
        error = float(np.max(np.abs(difference)))
        return Change(place.path, found.name, self._to.__name__, error, new=new)

    def _start(self, found: Fixed) -> dict[str, Any]:
        """Return the arguments that set the function at which an activation starts."""
        start: Any = found.start
        if isinstance(start, FunctionStart):
            start = start.function
        if not self._vaf:
            takes = "initialization" in inspect.signature(self._to).parameters
            known = takes and start is not found.start
            return {"initialization": start} if known else {}
        if start is found.start:
            return {"g": "relu", **self._given, "initialization": start}
        function = get_function(start, "g")
        lines = elementwise(function).lines
        arguments: dict[str, Any] = {"g": "relu" if lines else start, **self._given}
        same = get_function(arguments["g"], "g") is function
        return {**arguments, "initialization": "g" if same else start}

    def _like_prelu(
        self, layer: keras.layers.PReLU, named: dict[str, Any]
    ) -> VAFActivation:
        """Return a VAF with one function per slope of a PReLU."""
        if self._given.get("g") not in (None, "relu", keras.activations.relu):
            raise KeptError("only a VAF with g='relu' starts at its slopes")
        if not layer.weights:
            raise KeptError("it has no slopes before it is built")
        (slopes,) = layer.get_weights()
        shared = tuple(layer.shared_axes or ())
        start = PiecewiseLinearStart((0,), (0.25, 1))
        arguments = {**self._given, "initialization": start, **named}
        vaf = VAFActivation(**arguments, sharing=shared or "neuron")
        vaf.build((None, *slopes.shape))
        weights = vaf.get_weights()
        # The second hidden unit makes the line on the left.
        weights[2][..., 1] = -np.squeeze(slopes, tuple(axis - 1 for axis in shared))
        vaf.set_weights(weights)
        return vaf
