"""`convert`, which replaces the fixed activations of a model by trainable ones."""

import fnmatch
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.models.attributes import Exchanging
from keras_vaf.models.changes import Draft, KeptError, keep_report
from keras_vaf.models.fitting import fit_to_inputs
from keras_vaf.models.graphs import checks, copies, running
from keras_vaf.models.graphs.reasons import GATE, GATES, reasons_to_keep
from keras_vaf.models.maker import Maker
from keras_vaf.models.rebuild import Rebuilding
from keras_vaf.ops.functions import Function
from keras_vaf.utils import check_flag, did_you_mean

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""
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
    function as g. Weights, names, frozen layers and compile arguments are kept, and so
    are activations that shape an output and gates that multiply other values.

    An activation built into a layer, as in `Dense(8, activation="relu")`, becomes a
    separate layer after it, called `NAME_activation`. Other layers, such as recurrent
    ones, receive the new one as an argument. A class derived from a Functional model
    becomes a plain Functional model. On the PyTorch backend, a copy of any
    `torch.nn.Module` gets a `keras_vaf.torch.VAF` in the place of each activation
    module.

    Args:
        model: A Sequential or Functional model. It may contain other models and use
            layers several times. With `inplace=True`, any built model: one whose class
            defines `call` is changed itself, and saved by its weights.
        layers: The layers whose activations are replaced: a name or a pattern such as
            `"block1_*"`, as a path for a layer inside another layer (`"backbone/*"`); a
            class of layers; a function from a layer to True or False; or a sequence of
            these. An activation that shapes an output, gates other values or is
            recurrent is replaced only if `layers` contains the full name of its layer.
        to: A class of `keras_vaf.layers`, or a function that takes a layer of the model
            and returns the new activation layer.
        k: Number of hidden units of a VAF.
        g: Fixed function of a VAF's hidden units. If the start is not exact for this g,
            the report states the errors. With `data`, each function is fitted to the
            inputs of its layer: a warning names functions whose root mean square error
            is above 6 % of the standard deviation of the old values. Without `data`, a
            warning states the largest error above 0.01.
        sharing: As for `keras_vaf.layers.TrainableActivation`. A VAF that replaces a
            `PReLU` shares its function along the same axes as the `PReLU`.
        inplace: Whether to use the layers of the model instead of copies, to save
            memory. A Sequential or Functional model must not be used afterwards.
        data: Inputs of the model, or a tuple of arguments of a module of PyTorch or of
            a model whose class defines `call`. A module is run on them, to see what to
            keep and whether outputs stay the same. Models of Keras need no `data`
            without `g`, unless an error asks for it.

    Returns:
        A new model, or the model itself if its class defines `call`. Its `report` lists
        the replaced and kept activations. With `g` and `data` it has the errors on the
        data, and the largest difference of the outputs.

    Raises:
        ValueError: If the model or a layer cannot be copied, if there is nothing to
            replace, if an argument does not fit the model or the other arguments, if k
            is too small for a function, or if `data` is needed.

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
    check_flag("inplace", inplace)
    chosen = _Selection(layers)
    if modules := checks.functions_on_torch(model):
        k, selection = 3 if k is None else k, None if layers is None else chosen
        return modules.convert(to, model, data, k, g, sharing, selection, inplace)
    if data is not None:
        running.check_data(data)
    by_attributes = isinstance(model, keras.Model) and not checks.is_graph(model)
    if not (by_attributes and inplace and model.built):
        checks.check_graph(model)
    names = {part.name: part for part in all_layers(model, include_self=False)}
    maker, reasons = Maker(model, to, k, g, sharing), reasons_to_keep(model)

    def replace(change: Draft) -> None:
        holder, reason = change.holder, reasons.get(id(change.holder), "")
        if isinstance(change.old, TrainableActivation):
            raise KeptError(_TRAINED)
        if not chosen.takes(holder, change.layer):
            raise KeptError("it was not chosen")
        if change.recurrent:
            reason = "it is recurrent: a layer of this kind must be named in `layers`"
        elif change.inside and change.before in GATES:
            reason = reason or GATE
        if reason and not chosen.names(holder, change.layer):
            raise KeptError(reason)
        maker.make(change)

    fits, deviation = g is not None and data is not None, None
    if fits:
        expected = running.outputs_of(model, data)
    work = (Exchanging if by_attributes else Rebuilding)(model, replace, inplace)
    chosen.check(names, [change.layer for change in work.drafts])
    result = work.finish(data)
    if fits:
        fit_to_inputs(result, work.drafts, data)
        deviation = running.largest_gap(result, data, expected)
    made = keep_report(result, work.drafts, deviation)
    if not made.replaced and _TRAINED not in {each.kept for each in made.kept}:
        raise ValueError(
            f"Nothing to replace in the model {model.name!r}. Received: a model with "
            f"{'; '.join(map(str, made.kept)) or 'no activation'}"
        )
    copies.compile_like(result, model)
    if g is not None and data is None and made.error > 0.01:
        warnings.warn(
            f"With g={g!r} the new activations differ from the old ones: largest error "
            f"{made.error:.2g} on [-8, 8]. Without `g` the start is exact, and with "
            "`data` it is fitted to the inputs of each layer.",
            stacklevel=2,
        )
    return result


class _Selection:
    """The layers, or the modules of PyTorch, that a user chose by `layers`."""

    def __init__(self, layers: Selector | Sequence[Selector] | None) -> None:
        self._selectors: Any = layers if isinstance(layers, tuple | list) else [layers]
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
        """Return whether a layer is selected by its name, or by its whole path."""
        return path in self._selectors or getattr(layer, "name", "") in self._selectors

    def check(self, names: Collection[str], paths: Collection[str]) -> None:
        """Raise an error for a selector that fits none of these names and paths."""
        for selector in self._selectors:
            known = {*names, *paths}
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}.{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )
