"""`convert`, which replaces the fixed activations of a model by trainable ones."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.models.attributes import replace_attributes
from keras_vaf.models.changes import Change, KeptError, keep_report
from keras_vaf.models.choices import Maker, Selection, Selector
from keras_vaf.models.copies import compile_like
from keras_vaf.models.fixed import label
from keras_vaf.models.graph import (
    GATE,
    GATES,
    check_graph,
    is_graph,
    is_torch_module,
    reasons_to_keep,
)
from keras_vaf.models.rebuild import Place, rebuild
from keras_vaf.ops.functions import Function
from keras_vaf.utils import check_flag

_LARGEST_ERROR = 0.01
_TRAINED = "it is trained already"
_SUBCLASSED = (
    "A built model whose class defines `call` is converted with `inplace=True`, which "
    "sets the attributes of its layers. Save it by its weights: `save_weights`, and "
    "`load_weights` into a model that was converted in the same way."
)


def convert(
    model: Any,
    layers: Selector | Sequence[Selector] | None = None,
    to: type[TrainableActivation] | Callable[[Any], keras.layers.Layer] = VAFActivation,
    k: int | None = None,
    g: str | Function | None = None,
    sharing: str | Sequence[int] = "layer",
    inplace: bool = False,
    data: Any = None,
) -> Any:
    """Replace the fixed activations of a model by trainable ones with an equal start.

    Before training, the result computes the same outputs as the model. A VAF that
    replaces a piecewise-linear function has g = relu. Any other VAF has the replaced
    function as g. Weights, names, frozen layers and compile arguments are kept.

    An activation layer is replaced by a new layer. An activation built into a layer, as
    in `Dense(8, activation="relu")`, becomes a separate layer after it, called
    `NAME_activation`. Custom layers, wrappers and recurrent layers receive the new
    activation as an argument. The code of custom layers is not searched.

    Activations that shape an output of the model, such as softmax, are not replaced,
    nor are gates that multiply other values.

    A class derived from a Functional model, such as a keras-hub backbone, becomes a
    plain Functional model. A model whose class defines `call` is converted with
    `inplace=True`: the attributes of its layers are set. Save it by its weights, and
    load them into a model that was converted in the same way.

    On the PyTorch backend, any `torch.nn.Module` is converted too: a copy has a
    `keras_vaf.torch.VAF` in the place of each activation module, such as
    `torch.nn.ReLU`. With `data`, copies of the module are run, which shows the
    activations that shape an output or are gates, and whether the outputs stay the
    same. Without `data`, the order of the modules decides. If nothing can be replaced,
    a warning says why.

    Args:
        model: A Sequential or Functional model. It may contain other models and use
            layers several times. With `inplace=True`, any built model.
        layers: The layers whose activations are replaced: a name or a pattern such as
            `"block1_*"`, as a path for a layer inside another layer (`"backbone/*"`); a
            class of layers; a function that takes a layer and returns whether to
            replace its activation; or a sequence of these. `None` selects all layers.
            An activation that shapes an output, gates other values or is recurrent is
            replaced only if `layers` contains the full name of its layer.
        to: A class of `keras_vaf.layers`, or a function that takes a layer of the model
            and returns the new activation layer.
        k: Number of hidden units of a VAF.
        g: Fixed function of a VAF's hidden units. If the start is not exact for this g,
            the report states the errors, and a warning the largest above 0.01.
        sharing: As for `keras_vaf.layers.TrainableActivation`. A VAF that replaces a
            `PReLU` shares its function along the same axes as the `PReLU`.
        inplace: Whether to use the layers of the model instead of copies, to save
            memory. A Sequential or Functional model must not be used afterwards.
        data: Inputs of the model. A module of PyTorch, or a model whose class defines
            `call`, may take a tuple of arguments. Models of Keras need `data` only if
            an error asks for it: if new activations inside layers must be built, and
            the model cannot be called on samples of unknown sizes.

    Returns:
        A new model, or the model itself if its class defines `call`.
        `keras_vaf.models.report` lists its replaced activations, the activations that
        were kept and why, and the number of parameters added.

    Raises:
        ValueError: If the model or a layer cannot be copied, if there is nothing to
            replace, if a name in `layers` does not match any layer, if k is too small
            for a function, if k or g is given and `to` does not take it, or if `data`
            is needed.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16, activation="relu", name="hidden"),
    ...     keras.layers.Dense(3, activation="softmax", name="class"),
    ... ])
    >>> print(report(convert(model)))
    hidden: relu -> VAFActivation, parameters +10, largest error 0
    class: softmax kept, it shapes an output of the model
    1 replaced, 1 kept, parameters +10
    """
    if is_torch_module(model):
        from keras_vaf.models.modules_on_torch import convert_module

        return convert_module(model, data, layers, to, k, g, sharing, inplace)
    check_flag("inplace", inplace)
    by_attributes = isinstance(model, keras.Model) and not is_graph(model)
    if not (by_attributes and inplace and model.built):
        check_graph(model, _SUBCLASSED)
    chosen, kept = Selection(layers), reasons_to_keep(model)
    parts = all_layers(model, include_self=False)
    formats = (getattr(part, "data_format", None) for part in parts)
    maker = Maker(to, k, g, sharing, next(filter(None, formats), None))

    def replace(place: Place) -> Change:
        _check_reasons(chosen, kept.get(id(place.layer), ""), place)
        try:
            return maker.make(place)
        except KeptError:
            raise
        except ValueError as error:
            raise ValueError(f"The activation of {place.path!r}: {error}") from error

    def check(changes: list[Change]) -> None:
        names = [part.name for part in parts]
        chosen.check(names, [change.layer for change in changes])

    if by_attributes:
        result, changes = model, replace_attributes(model, replace, check, data)
    else:
        result, changes = rebuild(model, replace, inplace, check=check, data=data)
    made = keep_report(result, changes)
    if not made.replaced and _TRAINED not in {each.kept for each in made.kept}:
        raise ValueError(
            f"Nothing to replace in the model {model.name!r}. Received: a model with "
            f"{'; '.join(map(str, made.kept)) or 'no activation'}"
        )
    compile_like(result, model)
    if g is not None and made.error > _LARGEST_ERROR:
        warnings.warn(
            f"With g={g!r} the new activations differ from the old ones: largest error "
            f"{made.error:.2g} on [-8, 8]. Without `g` the start is exact.",
            stacklevel=2,
        )
    return result


def _check_reasons(chosen: Selection, reason: str, place: Place) -> None:
    """Raise the reason why an activation is kept, if there is one."""
    if isinstance(place.activation, TrainableActivation):
        raise KeptError(_TRAINED)
    if not chosen.takes(place.layer, place.path):
        raise KeptError("it was not chosen")
    if place.recurrent:
        reason = "it is recurrent: a layer of this kind must be named in `layers`"
    elif place.inside and label(place.activation) in GATES:
        reason = reason or GATE
    if reason and not chosen.names(place.layer, place.path):
        raise KeptError(reason)
