"""`widened`, which makes the ReLU units of VAFs units of the layers around them."""

import contextlib
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.keras_internals import history
from keras_vaf.models.changes import Draft, KeptError
from keras_vaf.models.fixed import is_linear
from keras_vaf.models.graphs.copies import graph_copy, layer_like
from keras_vaf.models.graphs.reasons import nodes
from keras_vaf.models.vaf_equivalent import built_shape, units_of

_L = keras.layers
_WEIGHTED = (_L.Dense, _L.Conv1D, _L.Conv2D, _L.Conv3D)
_LEFT_OUT = (
    *(_L.Dropout, _L.SpatialDropout1D, _L.SpatialDropout2D, _L.SpatialDropout3D),
    *(_L.GaussianDropout, _L.GaussianNoise, _L.AlphaDropout, _L.Identity),
)
# Each channel of their outputs is a weighted sum of the same channel of their inputs.
_PASSING = (
    *(_L.AveragePooling1D, _L.AveragePooling2D, _L.AveragePooling3D, _L.Flatten),
    *(_L.GlobalAveragePooling1D, _L.GlobalAveragePooling2D, _L.ZeroPadding1D),
    *(_L.GlobalAveragePooling3D, _L.ZeroPadding2D, _L.ZeroPadding3D),
)


class _Part:
    """An operation of a graph, its neighbours, and kernel and bias if it has them."""

    def __init__(self, operation: Any) -> None:
        self.operation, self.gone = operation, False
        vaf = isinstance(operation, VAFActivation)  # not in the written model
        kind = "" if vaf else f" of class {type(operation).__name__}"
        self.name = f"{operation.name!r}{kind}"
        # Channels are the last axis; zeros around the input take part in its sums.
        self.last = getattr(operation, "data_format", None) != "channels_first"
        self.pads = getattr(operation, "padding", "valid") != "valid"
        self.relu: dict[str, str] = {}  # the new activation
        self.before: list[_Part] = []
        self.after: list[_Part] = []
        self.calls = 0  # and outputs of the model, which count as calls behind
        self.kernel: Any = None
        self.bias: Any = None
        self.changed = False
        if type(operation) in _WEIGHTED and getattr(operation, "groups", 1) == 1:
            kernel, *bias = (np.asarray(w, "float64") for w in operation.get_weights())
            self.kernel, self.bias = kernel, (*bias, np.zeros(kernel.shape[-1]))[0]

    def only(self, behind: bool) -> "_Part":
        """Return the one part before or behind, of one call, past what is gone."""
        found = self.after if behind else self.before
        if len(found) != 1 or self.calls != 1:
            where = "behind" if behind else "before"
            raise KeptError(f"there is not exactly one layer {where} {self.name}")
        return found[0].only(behind) if found[0].gone else found[0]

    def linear_before(self) -> "_Part":
        """Return the Dense or Conv layer of which this part alone takes the outputs."""
        part = self.only(False)
        linear = part.kernel is not None and part.last and not part.relu
        if part.only(True) is self and linear and is_linear(part.operation.activation):
            return part
        raise KeptError(f"{part.name} before it is not a linear Dense or Conv layer")


def widened(model: keras.Model, drafts: list[Draft]) -> keras.Model:
    """Return a model whose VAFs with g = relu are units of the layers around them.

    Batch normalization becomes a part of these layers, and dropout is left out. The
    drafts of VAFs that stay get the reason as a remark.
    """
    parts = _parts(model)
    for part in parts.values():
        part.gone = type(part.operation) in _LEFT_OUT and part.calls == 1
    for part in parts.values():
        if isinstance(part.operation, _L.BatchNormalization):
            _into_the_layer_before(part)
    for draft in drafts:
        try:
            if not draft.kept:
                _into_both_layers(parts.get(id(draft.new)))
        except KeptError as reason:
            draft.remark += f"{draft.remark and '; '}not folded, {reason}"
    return _rebuilt(model, parts)


def _parts(model: keras.Model) -> dict[int, _Part]:
    """Return the operations of a graph by their ids."""
    calls = [*nodes(model.outputs, inside=False)]
    parts = {id(node.operation): _Part(node.operation) for node in calls}
    for node in calls:
        part = parts[id(node.operation)]
        part.calls += 1
        for tensor in node.input_tensors:
            before, own, _ = history(tensor)
            if own is not None:
                part.before.append(parts[id(before)])
                parts[id(before)].after.append(part)
    for tensor in model.outputs:
        parts[id(history(tensor)[0])].after.append(_Part(keras.layers.Identity()))
    return parts


def _scale(part: _Part) -> tuple[np.ndarray, np.ndarray]:
    """Return factors and shifts of batch normalization."""
    layer = part.operation
    if [*np.ravel(layer.axis)] not in ([-1], [len(built_shape(layer)) - 1]):
        raise KeptError(f"{part.name} does not normalize the last axis")
    mean, variance = np.float64(layer.moving_mean), np.float64(layer.moving_variance)
    factor = 1 / np.sqrt(variance + layer.epsilon)
    factor = factor * (np.float64(layer.gamma) if layer.scale else 1.0)
    return factor, (np.float64(layer.beta) if layer.center else 0.0) - mean * factor


def _into_the_layer_before(part: _Part) -> None:
    """Make batch normalization a part of the linear layer before it, if it can be."""
    with contextlib.suppress(KeptError):
        before, (factor, shift) = part.linear_before(), _scale(part)
        before.kernel = before.kernel * factor
        before.bias = before.bias * factor + shift
        before.changed = part.gone = True


def _into_both_layers(part: _Part | None) -> None:
    """Put the units of a VAF into the layers before and behind it."""
    if part is None:
        raise KeptError("it is inside another model")
    before = part.linear_before()
    n = before.kernel.shape[-1]
    axes, rank = tuple(part.operation._unshared_axes), len(built_shape(part.operation))
    if axes not in ((), (rank - 1,)):
        raise KeptError("its functions differ along other axes than the last")
    _, units, constant = units_of(part.operation)
    alpha, shift, beta = (np.broadcast_to(u, (n, u.shape[-1])).copy() for u in units)
    constant = np.broadcast_to(constant, n).copy()
    after, padded, flat, gone = part.only(True), False, False, []
    while after.kernel is None or not after.last:
        layer = after.operation
        if isinstance(layer, _L.BatchNormalization) and not (flat or padded):
            factor, offset = _scale(after)
            beta, constant = beta * factor[:, None], constant * factor + offset
            gone.append(after)
        elif type(layer) not in _PASSING or not after.last:
            raise KeptError(f"{after.name} is behind it")
        flat, padded = flat or isinstance(layer, _L.Flatten), padded or after.pads
        after = after.only(True)
    if after.calls != 1:
        raise KeptError(f"{after.name} is called several times")
    for each in (part, *gone):
        each.gone = True
    _fold(before, after, (alpha, shift, beta), constant, padded or after.pads)


def _fold(
    before: _Part,
    after: _Part,
    units: tuple[np.ndarray, np.ndarray, np.ndarray],
    constant: np.ndarray,
    padded: bool,
) -> None:
    """Change kernels and biases of two layers, given the units of each channel.

    Zeros of padding would replace the constant. Then a further channel carries it,
    which is relu(0 x + 1).
    """
    alpha, shift, beta = units
    channel, unit = np.nonzero(beta)
    kernel, bias = before.kernel[..., channel], before.bias[channel]
    slope = alpha[channel, unit]
    kernel, bias = kernel * slope, bias * slope + shift[channel, unit]
    # Flattening keeps the channels as the last axis within the inputs of `after`.
    behind = after.kernel.reshape(-1, len(constant), after.kernel.shape[-1])
    carried = np.einsum("xnm,n->xm", behind, constant)
    behind = behind[:, channel] * beta[channel, unit][:, None]
    if padded and constant.any():
        kernel = np.concatenate([kernel, np.zeros_like(kernel[..., :1])], -1)
        bias = np.append(bias, 1.0)
        behind = np.concatenate([behind, carried[:, None]], 1)
    else:
        after.bias = after.bias + carried.sum(axis=0)
    shape = (*after.kernel.shape[:-2], -1, after.kernel.shape[-1])
    before.kernel, before.bias = kernel, bias
    before.relu = {"activation": "relu"}
    after.kernel = behind.reshape(shape)
    before.changed = after.changed = True


def _rebuilt(model: keras.Model, parts: dict[int, _Part]) -> keras.Model:
    """Return a model of changed parts and the same others, without what is gone."""
    made: list[tuple[_Part, Any]] = []

    def make(layer: Any) -> Any:
        part = parts.get(id(layer))
        if part is None or not part.changed:
            return layer
        size = "units" if isinstance(layer, _L.Dense) else "filters"
        config = {"use_bias": True, size: part.kernel.shape[-1]}
        made.append((part, layer_like(layer, **config, **part.relu)))
        return made[-1][1]

    gone = {id(part.operation) for part in parts.values() if part.gone}
    copy = graph_copy(model, make, lambda new: [] if id(new) in gone else [new])
    for part, layer in made:
        layer.set_weights([part.kernel, part.bias])
    return copy
