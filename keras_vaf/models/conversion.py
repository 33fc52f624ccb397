"""Fixed activations of a model replaced by trainable ones that start there."""

from collections.abc import Callable, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.activation_factory import Maker
from keras_vaf.models.surgery.cloning import check_graph
from keras_vaf.models.surgery.layer_selection import (
    Selection,
    Selector,
    layers_of,
    output_layers,
)
from keras_vaf.models.surgery.replacement import (
    KeptError,
    NewActivation,
    Place,
    replace_activations,
)
from keras_vaf.ops.functions import Function

_TRAINED = "it is trained already"


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
    result = replace_activations(model, conversion.decide, inplace)
    conversion.selection.check(model)
    kept = result.report.kept
    if not result.report.replaced and _TRAINED not in {each.reason for each in kept}:
        raise ValueError(
            f"Nothing to replace in the model {model.name!r}. Received: a model with "
            f"{'; '.join(map(str, kept)) or 'no activation'}"
        )
    return result


class _Conversion:
    """Decides for each activation whether it is replaced, and by what."""

    def __init__(
        self, model: keras.Model, layers: Any, to: Any, k: int, g: Any, sharing: Any
    ) -> None:
        formats = (getattr(layer, "data_format", None) for _, layer in layers_of(model))
        self.selection = Selection(layers)
        self._maker = Maker(to, k, g, sharing, next(filter(None, formats), None))
        self._outputs = {id(layer) for layer in output_layers(model)}

    def decide(self, place: Place) -> NewActivation:
        """Return a new activation, or raise the reason why the old one is kept."""
        activation, layer, path, name = place
        if isinstance(activation, TrainableActivation):
            raise KeptError(_TRAINED)
        if isinstance(layer, keras.layers.RNN):
            raise KeptError("it needs the functions of its gates")
        if not self.selection.takes(layer, path):
            raise KeptError("it was not chosen")
        if id(layer) in self._outputs and not self.selection.names(layer, path):
            raise KeptError("it makes an output of the model")
        try:
            return self._maker.make(activation, layer, name)
        except ValueError as error:
            raise ValueError(f"The activation of {path!r}: {error}") from error
