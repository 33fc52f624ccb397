"""Fixed activations of a model replaced by trainable ones that start there."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.activation_factory import Maker, NotPossibleError
from keras_vaf.models.surgery.cloning import Node, Swap, check_graph, rebuild
from keras_vaf.models.surgery.fixed_activations import (
    has_built_in,
    is_activation,
    label,
)
from keras_vaf.models.surgery.layer_selection import (
    Selection,
    Selector,
    layers_of,
    output_layers,
)
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)
from keras_vaf.ops.functions import Function


def convert(
    model: keras.Model,
    layers: Selector | Sequence[Selector] | None = None,
    to: type[TrainableActivation] | Callable[[Any], keras.layers.Layer] = VAFActivation,
    k: int = 3,
    g: str | Function = "relu",
    sharing: str | Sequence[int] = "layer",
    inplace: bool = False,
) -> keras.Model:
    """Replace the fixed activations of a model by trainable ones that start there.

    The result computes what the model does: VAFs start at the functions they replace,
    exactly with g = relu if those are made of straight lines, else nearly (the report
    tells how nearly). Weights, names, what is frozen, and how the model was compiled
    are kept. Activation layers are replaced in their place. An activation that is built
    into a layer, as in `Dense(8, activation="relu")`, becomes a layer of its own behind
    it, called `NAME_activation`.

    Args:
        model: A Sequential or Functional model; it may hold others and use layers more
            than once.
        layers: Which activations: the name of a layer or a pattern such as
            `"block1_*"`, with its path if it is in a model inside (`"backbone/*"`); a
            class of layers; a function that takes a layer and tells whether to replace
            its activation; or a sequence of these. `None` means every hidden
            activation. An activation that makes an output of the model is replaced only
            if its layer is named here in full.
        to: A class of `keras_vaf.layers`, or a function that takes a layer of the model
            and returns the new activation layer that replaces its activation. Classes
            other than `VAFActivation` start at the function if they can start at any.
        k: Number of hidden units of a VAF.
        g: Fixed function of a VAF's hidden units; `"same"` means the replaced function
            itself, which makes a start at swish or gelu exact as well. (For functions
            made of straight lines it means relu.)
        sharing: As for `keras_vaf.layers.TrainableActivation`. A VAF that replaces a
            `PReLU` shares its function as that did.
        inplace: Whether to use the layers of the model instead of copies, to save
            memory. The model must not be used any more then.

    Returns:
        A model of the same kind. Its attribute `report`, a `ConversionReport`, lists
        what was replaced, what was kept and why, and how many parameters were added.

    Raises:
        ValueError: If the model is subclassed, a layer cannot be made again, there is
            nothing to replace, a name in `layers` fits no layer, or k is too small for
            a function.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16, activation="relu", name="hidden"),
    ...     keras.layers.Dense(3, activation="softmax", name="class"),
    ... ])
    >>> print(convert(model).report)
    hidden: relu -> VAFActivation, parameters +10, largest error 0
    class: softmax kept, it makes an output of the model
    1 replaced, 1 kept, parameters +10
    """
    check_graph(model)
    conversion = _Conversion(model, layers, to, k, g, sharing)
    result = rebuild(model, conversion.swap, inplace)
    result.report = conversion.report()
    return result


class _Replaced(NamedTuple):
    path: str
    before: str
    layer: keras.layers.Layer
    error: float | None
    parameters_before: int


class _Conversion:
    """Decides layer by layer what to replace, and remembers it."""

    def __init__(
        self, model: keras.Model, layers: Any, to: Any, k: int, g: Any, sharing: Any
    ) -> None:
        found = list(layers_of(model))
        formats = (getattr(layer, "data_format", None) for layer in found)
        self._model = model
        self._selection = Selection(layers)
        self._maker = Maker(to, k, g, sharing, next(filter(None, formats), None))
        self._outputs = {id(layer) for layer in output_layers(model)}
        self._names = {layer.name for layer in found}
        self._replaced: list[_Replaced] = []
        self._kept: list[KeptActivation] = []
        self._trained = False

    def swap(self, layer: Node, path: str) -> Swap | None:
        """Return what takes the place of a layer."""
        chosen = self._selection.takes(layer, path)
        built_in = has_built_in(layer)
        if not built_in and not is_activation(layer):
            self._note(layer, path)
            return None
        activation = layer.activation if built_in else layer
        try:
            self._check(activation, layer, path, chosen)
            new = self._replace(activation, layer, path)
        except NotPossibleError as reason:
            self._kept.append(KeptActivation(path, label(activation), str(reason)))
            return None
        return Swap(linear=True, then=new) if built_in else Swap(new)

    def _check(self, activation: Any, layer: Node, path: str, chosen: bool) -> None:
        """Raise the reason why an activation stays, whatever it is."""
        inner = getattr(layer, "activation", None)
        if isinstance(inner, TrainableActivation):
            self._trained = True
            raise NotPossibleError("it is trained already")
        if not chosen:
            raise NotPossibleError("it was not chosen")
        if id(layer) in self._outputs and not self._selection.names(layer, path):
            raise NotPossibleError("it makes an output of the model")

    def _replace(self, activation: Any, layer: Node, path: str) -> keras.layers.Layer:
        name = layer.name
        if activation is not layer:
            name = f"{name}_activation"
            while name in self._names:
                name = f"{name}_vaf"
            self._names.add(name)
        try:
            made = self._maker.make(activation, layer, name)
        except ValueError as error:
            raise ValueError(f"The activation of {path!r}: {error}") from error
        before = _parameters(activation)
        self._replaced.append(
            _Replaced(path, made.before, made.layer, made.error, before)
        )
        return made.layer

    def _note(self, layer: Node, path: str) -> None:
        """Note activations in a layer that are no part of the model's graph."""
        reason = None
        if isinstance(layer, TrainableActivation):
            self._trained = True
            reason = "it is trained already"
        elif isinstance(layer, keras.layers.RNN):
            reason = "it needs the functions of its gates"
        elif any(map(_acts, _inside(layer))):
            reason = "its own code calls the activations in it"
        if reason is not None:
            self._kept.append(KeptActivation(path, type(layer).__name__, reason))

    def report(self) -> ConversionReport:
        """Return what was done.

        Raises:
            ValueError: If nothing was, and nothing is trained already.
        """
        self._selection.check(self._model)
        changes = tuple(
            ReplacedActivation(
                path, before, type(new).__name__, error, _parameters(new) - had
            )
            for path, before, new, error, had in self._replaced
        )
        report = ConversionReport(changes, tuple(self._kept))
        if not changes and not self._trained:
            found = "; ".join(map(str, report.kept)) or "no activation"
            raise ValueError(
                f"Nothing to replace in the model {self._model.name!r}. "
                f"Received: a model with {found}"
            )
        return report


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)


def _inside(layer: Node) -> list[Any]:
    """Return all that a layer is made of, and its own activation."""
    parts = [getattr(layer, "activation", None), *getattr(layer, "_layers", ())]
    return [part for part in parts if part is not None]


def _acts(part: Any) -> bool:
    """Tell whether a part of a layer is an activation, or has one."""
    if not isinstance(part, keras.layers.Layer):
        return part is not keras.activations.linear
    if is_activation(part) or isinstance(part, TrainableActivation):
        return True
    return any(map(_acts, _inside(part)))
