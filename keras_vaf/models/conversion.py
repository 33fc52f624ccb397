"""`convert`, which replaces the fixed activations of a model by trainable ones."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.models.activation_factory import Maker
from keras_vaf.models.analysis.flow import Flow
from keras_vaf.models.analysis.graphs import check_model, layers_of
from keras_vaf.models.analysis.held import Place
from keras_vaf.models.analysis.layer_selection import Selection, Selector
from keras_vaf.models.analysis.modules import is_torch_module
from keras_vaf.models.surgery.changes import KeptError, NewActivation, report_of
from keras_vaf.models.surgery.plan import Plan
from keras_vaf.models.surgery.replacement import replace_activations
from keras_vaf.models.surgery.report import keep_report
from keras_vaf.ops.functions import Function
from keras_vaf.utils import check_flag

_LARGEST_ERROR = 0.01
_TRAINED = "it is trained already"


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
    activation as an argument. A subclassed model, such as a keras-hub backbone, keeps
    its class.

    Activations that shape an output of the model, such as softmax, are not replaced,
    nor are gates that multiply other values.

    On the PyTorch backend, any `torch.nn.Module` is converted too: a copy has a
    `keras_vaf.torch.VAF` in the place of each activation module, such as
    `torch.nn.ReLU`. Give `data`: what the module is called with. Copies of the module
    are then run six times. This shows which activations shape an output or are gates,
    whether the outputs stay the same, and whether each VAF is used and trained.
    Otherwise the order of the modules decides, and nothing is checked. The report names
    what was kept and why, such as a call of `torch.nn.functional.relu` in code. If
    nothing can be replaced, a warning says why.

    Args:
        model: A Sequential or Functional model. It may contain other models and use
            layers several times. A model whose class defines `call` needs weights,
            a `get_config`, and one input or structure of inputs.
        layers: The layers whose activations are replaced: a name or a pattern such as
            `"block1_*"`, as a path for a layer inside another layer (`"backbone/*"`); a
            class of layers; a function that takes a layer and returns whether to
            replace its activation; or a sequence of these. `None` selects all layers.
            An activation that shapes an output, gates other values or is recurrent is
            replaced only if `layers` contains the full name of its layer.
        to: A class of `keras_vaf.layers`, or a function that takes a layer of the model
            and returns the new activation layer. Classes other than `VAFActivation`
            start at the replaced function if they support starts at a function.
        k: Number of hidden units of a VAF.
        g: Fixed function of a VAF's hidden units. If the start is not exact for this g,
            the report states the errors. A warning states the largest error if it
            exceeds 0.01.
        sharing: As for `keras_vaf.layers.TrainableActivation`. A VAF that replaces a
            `PReLU` shares its function along the same axes as the `PReLU`.
        inplace: Whether to use the layers of the model instead of copies, to save
            memory. The model must not be used afterwards.
        data: What a module of PyTorch is called with: one input, a tuple of arguments,
            or a dictionary of named arguments.

    Returns:
        A model of the same kind. `keras_vaf.models.report` lists its replaced
        activations, the activations that were kept and why, and the number of
        parameters added.

    Raises:
        ValueError: If the model or a layer cannot be copied, if there is nothing to
            replace, if a name in `layers` does not match any layer, if k is too small
            for a function, or if k or g is given and `to` does not take it.

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
    if data is not None:
        raise ValueError(
            "`data` is for modules of PyTorch; a model of Keras is not run. "
            f"Received: the model {getattr(model, 'name', model)!r}"
        )
    check_model(model)
    check_flag("inplace", inplace)
    parts = dict(layers_of(model))
    names = [part.name for part in parts.values()]
    formats = (getattr(part, "data_format", None) for part in parts.values())
    maker = Maker(to, k, g, sharing, next(filter(None, formats), None))
    selection, flow = Selection(layers), Flow(model, [*parts.values()])
    decide = functools.partial(_replacement, selection, flow, maker)
    plan = Plan(model, decide, names, inplace)
    paths = {change.place.path for change in plan.changes}
    selection.check(names, {*parts, *paths, *(layer.name for layer, _ in flow.calls)})
    result = replace_activations(plan)
    changes = report_of(plan.changes, flow.calls, len(flow.not_searched))
    keep_report(result, changes)
    reasons = {each.reason for each in changes.kept}
    if not changes.replaced and _TRAINED not in reasons:
        raise ValueError(
            f"Nothing to replace in the model {model.name!r}. Received: a model with "
            f"{'; '.join(map(str, changes.kept)) or 'no activation'}"
        )
    if g is not None and changes.error > _LARGEST_ERROR:
        warnings.warn(
            f"With g={g!r} the new activations differ from the old ones: largest error "
            f"{changes.error:.2g} on [-8, 8]. Without `g` the start is exact.",
            stacklevel=2,
        )
    return result


def _replacement(
    selection: Selection, flow: Flow, maker: Maker, place: Place
) -> NewActivation:
    """Return a new activation, or raise the reason why the old one is kept."""
    if isinstance(place.activation, TrainableActivation):
        raise KeptError(_TRAINED)
    if not selection.takes(place.layer, place.path):
        raise KeptError("it was not chosen")
    reason = flow.reason(place)
    if reason and not selection.names(place.layer, place.path):
        raise KeptError(reason)
    try:
        return maker.make(place)
    except ValueError as error:
        raise ValueError(f"The activation of {place.path!r}: {error}") from error
