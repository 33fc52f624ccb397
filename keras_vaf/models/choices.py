"""`Selection` and `Maker`, the layers and the new activations that a user chose."""

import fnmatch
import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.start import INSIDE
from keras_vaf.initializers.units import spare_units
from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.changes import Change, KeptError
from keras_vaf.models.fixed import Fixed, fixed
from keras_vaf.models.rebuild import Place
from keras_vaf.models.vaf_equivalent import built_shape, to_vaf, weights_of
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import HOW_TO_REGISTER, Function, get_function
from keras_vaf.utils import check_integer, did_you_mean

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
        several = isinstance(layers, tuple | list)
        self._selectors: list[Any] = list(layers) if several else [layers]  # type: ignore
        known = (
            selector is None or isinstance(selector, str) or callable(selector)
            for selector in self._selectors
        )
        if not all(known):
            raise ValueError(
                "`layers` must be names or patterns of names, classes of layers, or "
                f"functions of a layer. Received: layers={layers!r}"
            )

    def takes(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected."""
        return any(_fits(selector, layer, path) for selector in self._selectors)

    def names(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected by its full name."""
        return path in self._selectors or _name(layer) in self._selectors

    def check(self, names: Collection[str], paths: Collection[str]) -> None:
        """Raise a `ValueError` for a name that does not match any layer.

        Args:
            names: Names of the layers, which the message lists.
            paths: Paths of layers.
        """
        known = {*names, *paths}
        for selector in self._selectors:
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}."
                    f"{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )


def _name(layer: Any) -> str:
    """Return the name of a layer; a module of PyTorch has a path only."""
    return str(getattr(layer, "name", ""))


def _fits(selector: Any, layer: Any, path: str) -> bool:
    if selector is None:
        return True
    if isinstance(selector, type):
        return isinstance(layer, selector)
    if not isinstance(selector, str):
        return bool(selector(layer))
    return _name(layer) == selector or fnmatch.fnmatchcase(path, selector)


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
        self._family = _is_class(to, TrainableActivation)
        if not self._family and (isinstance(to, type) or not callable(to)):
            raise ValueError(
                "`to` must be an element-wise class of keras_vaf.layers, or a function "
                "that takes a layer and returns the activation layer to replace its "
                f"activation. Received: to={to!r}"
            )
        self._g = g
        self._vaf = _is_class(to, VAFActivation)
        given = {n: value for n, value in (("k", k), ("g", g)) if value is not None}
        if given and not self._vaf:
            raise ValueError(
                "`k` and `g` are arguments of VAFActivation, and `to` makes a layer of "
                f"another class. Received: to={to!r}, {given}"
            )
        self._arguments = {"sharing": sharing, "data_format": data_format}
        self._k = {} if k is None else {"k": k}
        # Cached, because most activations of a model are the same function.
        self._starts: dict[tuple[str, str], tuple[dict[str, Any], float]] = {}

    def make(self, place: Place) -> Change:
        """Return the change of a fixed activation to a new one.

        Raises:
            KeptError: If no activation can start at this function.
            ValueError: If k is too small for the function, or if `to` does not return a
                layer.
        """
        activation, layer = place.activation, place.layer
        policy = getattr(layer, "dtype_policy", None)
        arguments = {"name": place.name, "dtype": _float_policy(policy)}
        if isinstance(activation, keras.layers.PReLU) and self._vaf:
            new: Any = self._like_prelu(activation, arguments)
            return Change(place.path, "PReLU", "VAFActivation", 0.0, new=new)
        try:
            found = fixed(activation)
        except ValueError as reason:  # also of a function that cannot be evaluated
            raise KeptError(str(reason)) from reason
        if not self._family:
            new = self._to(layer)
            if not isinstance(new, keras.layers.Layer):
                raise ValueError(
                    "`to` must return a layer. "
                    f"Received: {new!r} for the layer {layer.name!r}"
                )
            return Change(place.path, found.name, type(new).__name__, new=new)
        key = (found.name, str(found.start.get_config()))
        if key not in self._starts:
            start = self._start(found)
            self._starts[key] = (start, self._measure(found, start))
        start, error = self._starts[key]
        new = self._to(**self._arguments, **start, **arguments)
        return Change(place.path, found.name, self._to.__name__, error, new=new)

    def _start(self, found: Fixed) -> dict[str, Any]:
        """Return the arguments that set the function at which an activation starts."""
        function = getattr(found.start, "function", None)
        if self._vaf:
            g = _exact(found) if self._g is None else self._g
            same = function and get_function(function, "g") is get_function(g, "g")
            start = "g" if same else function or found.start
            relu = get_function(g, "g") is keras.activations.relu
            if isinstance(start, PiecewiseLinearStart) and found.sampled and relu:
                start = start.nearest(self._k.get("k", VAFActivation().k))
            return {**self._k, "g": g, "initialization": start}
        starts = "initialization" in inspect.signature(self._to).parameters
        return {"initialization": function} if starts and function else {}

    def _measure(self, found: Fixed, start: dict[str, Any]) -> float:
        """Return the largest error of a start on [-8, 8]."""
        probe = self._to(**start)
        probe.build((None, 1))
        difference = probe.function(INSIDE).ravel() - found.start.target(INSIDE)
        return float(np.max(np.abs(difference)))

    def _like_prelu(
        self, layer: keras.layers.PReLU, arguments: dict[str, Any]
    ) -> VAFActivation:
        """Return a VAF with one function per slope of a PReLU."""
        if self._g not in (None, "relu", keras.activations.relu):
            raise KeptError("only a VAF with g='relu' starts at its slopes")
        if not layer.weights:
            raise KeptError("it has no slopes before it is built")
        vaf = to_vaf(layer)
        k = self._k.get("k", max(3, vaf.k))
        return _with_more_units(vaf, k, **arguments)


def _with_more_units(layer: VAFActivation, k: int, **changes: Any) -> VAFActivation:
    """Return a VAF with the same function and k hidden units, some of them spare."""
    if check_integer("k", k) < layer.k:
        raise ValueError(
            f"The layer {layer.name!r} has {layer.k} hidden units: expected k >= "
            f"{layer.k}. Received: k={k}"
        )
    alpha, alpha_bias, beta, beta_bias = weights_of(layer)
    spares = spare_units(k - layer.k, layer.g, alpha, alpha_bias)
    grown = VAFActivation.from_config({**layer.get_config(), "k": k, **changes})
    grown.build(built_shape(layer))
    values = [
        np.concatenate([old, np.broadcast_to(new, (*old.shape[:-1], len(new)))], -1)
        for old, new in zip((alpha, alpha_bias, beta), spares, strict=True)
    ]
    grown.set_weights([*values, beta_bias])
    return grown


def _is_class(to: Any, kind: type) -> bool:
    return isinstance(to, type) and issubclass(to, kind)


def _exact(found: Fixed) -> str | Function:
    """Return a g with which a VAF starts exactly at a function.

    Raises:
        KeptError: If no such g is known.
    """
    if found.sampled:
        raise KeptError(
            "no g is known for which the start is exact: register the function, or "
            f"choose a g. {HOW_TO_REGISTER}"
        )
    if not isinstance(found.start, FunctionStart):
        return "relu"
    function = get_function(found.start.function, "function")
    return "relu" if elementwise(function).lines else found.start.function


def _float_policy(policy: Any) -> Any:
    """Return the dtype policy of a quantized layer before quantization."""
    name = getattr(policy, "name", "")
    return name.partition("_from_")[2] or policy
