"""`Flow`, which finds activations that shape an output or gate other values."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.layers.keras_internals import all_layers, history
from keras_vaf.models.analysis.fixed_activations import label, last_activation
from keras_vaf.models.analysis.graphs import (
    Node,
    has_own_code,
    is_graph,
    symbolic_inputs,
)
from keras_vaf.models.analysis.held import Place, held_by
from keras_vaf.models.analysis.tracing import Inside, Tracer
from keras_vaf.ops.activations import KERAS_NAMES

OUTPUT = "it shapes an output of the model"
GATE = "it is a gate that multiplies other values"
RECURRENT = "it is recurrent: a layer of this kind must be named in `layers`"
UNUSED = "its layer does not call it"

# Layers and operators whose output stays in the range of their input.
_LAYERS = (
    *("ActivityRegularization", "AlphaDropout", "Average", "Concatenate", "Dropout"),
    *("Cropping1D", "Cropping2D", "Cropping3D", "Flatten", "GaussianDropout"),
    *("GaussianNoise", "Identity", "Masking", "Maximum", "Minimum", "Permute"),
    *("RepeatVector", "Rescaling", "Reshape", "Resizing", "SpatialDropout1D"),
    *("SpatialDropout2D", "SpatialDropout3D", "UpSampling1D", "UpSampling2D"),
    *("UpSampling3D", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"),
    *(
        f"{place}{kind}Pooling{rank}D"
        for place in ("", "Global", "Adaptive")
        for kind in ("Average", "Max")
        for rank in (1, 2, 3)
    ),
)
_OPERATORS = frozenset(
    {
        *("Abs", "Absolute", "Amax", "Amin", "AveragePool", "BroadcastTo", "Cast"),
        *("Clip", "Concatenate", "Copy", "ExpandDims", "Flip", "GetItem", "Max"),
        *("Maximum", "MaxPool", "Mean", "Min", "Minimum", "Moveaxis", "Negative"),
        *("Pad", "Ravel", "Repeat", "Reshape", "Resize", "Roll", "Slice", "Split"),
        *("Squeeze", "Stack", "StopGradient", "Swapaxes", "Take", "Tile"),
        *("Transpose", "Unstack"),
    }
)
_ARITHMETIC = frozenset({"Add", "Divide", "Multiply", "Subtract", "TrueDivide"})
# Operators that call functions.
_CALLERS = frozenset(
    {
        *("AssociativeScan", "Cond", "ForiLoop", "Map", "Scan", "Switch"),
        *("VectorizedMap", "WhileLoop"),
    }
)
_GATES = frozenset({"hard_sigmoid", "sigmoid", "tanh"})


class _Step(NamedTuple):
    """An operation in a graph, as `Flow` sees it.

    Args:
        activation: The activation with which it ends, or `None`.
        owner: The operation, if it runs code from outside of Keras.
        inside: The graph of this code or of a nested model, or `None`.
    """

    activation: Any
    owner: tuple[Node, ...]
    inside: Inside | None


class Flow:
    """Follows values through the graph of a model and through the code of its layers.

    Code is followed if it runs on symbolic tensors.

    Args:
        model: A Sequential or Functional model, or a subclassed model with weights.
        layers: The layers of the model and of its nested models, in order.

    Attributes:
        calls: Layers whose code calls an activation that is not an attribute, each with
            the name of the activation.
        not_searched: Layers whose code cannot be followed.
    """

    def __init__(self, model: keras.Model, layers: Sequence[Node]) -> None:
        self.calls: list[tuple[Node, str]] = []
        self.not_searched: list[Node] = []
        self._reasons: dict[int, str] = {}
        self._reasons_in_code: dict[tuple[int, str], str] = {}
        self._steps: dict[int, _Step] = {}  # by the id of the operation
        self._called: set[tuple[int, str]] = set()
        self._opaque: set[int] = set()  # their code makes calls that cannot be followed
        with Tracer() as self._tracer:
            graph, outputs = is_graph(model), getattr(model, "outputs", None)
            if not graph:
                inside = self._tracer.trace(model, [symbolic_inputs(model)], {})
                outputs = inside and inside.outputs
            if outputs:
                owners = () if graph else (model,)
                self._follow(outputs, owners, OUTPUT)
                self._search(outputs, owners)
            elif graph:  # a Sequential model that is not built
                for layer in reversed(layers):
                    self._reasons[id(layer)] = OUTPUT
                    if type(layer).__name__ not in _LAYERS:
                        break
            else:
                self.not_searched.append(model)
                self._note_parts(model, (), OUTPUT)

    def reason(self, place: Place) -> str | None:
        """Return the reason why an activation must be kept, or `None`."""
        activation, layer = place.activation, place.layer
        if place.recurrent:
            return RECURRENT
        step = self._steps.get(id(layer))
        if step is None or not step.owner or step.inside is None:
            return self._reasons.get(id(layer))
        if self._is_unused(activation, layer):
            return UNUSED
        return self._reasons_in_code.get((id(layer), _name(activation)))

    def _is_unused(self, activation: Any, layer: Node) -> bool:
        """Return whether neither a layer nor its parts call an activation they have."""
        parts = all_layers(layer)
        holders = [p for p in parts if activation in held_by(p).values()]
        name = _name(activation)
        if id(layer) in self._opaque or layer not in holders:
            return False
        if any((id(holder), name) in self._called for holder in holders):
            return False
        operation = history(activation(keras.KerasTensor((2, 2))))[0]
        return _name(operation) == name != ""

    def _note(
        self, operation: Node, activation: Any, owners: Sequence[Node], reason: str
    ) -> None:
        self._reasons.setdefault(id(operation), reason)
        if activation is None:
            return
        # A function from outside of Keras leaves operators with other names.
        other = () if isinstance(operation, keras.layers.Layer) else ("",)
        names = (_name(activation), *other)
        for name, owner in itertools.product(names, owners):
            self._reasons_in_code.setdefault((id(owner), name), reason)

    def _note_parts(self, layer: Node, owners: Sequence[Node], reason: str) -> None:
        """Record all parts of a layer whose code cannot be followed."""
        for part in all_layers(layer, include_self=False):  # any may be the last
            self._note(part, last_activation(part), owners, reason)

    def _follow(
        self, tensors: Sequence[Any], owners: Sequence[Node], reason: str
    ) -> set[int]:
        """Go back from tensors while operations keep the range, and record activations.

        Args:
            tensors: Tensors from which to start.
            owners: Layers whose code this is, outermost first.
            reason: `OUTPUT`, or `GATE` to record only gates.

        Returns:
            The ids of the inputs of the graph that are reached.
        """
        sources, seen = set(), set()
        waiting = [(tensor, False) for tensor in tensors]
        while waiting:
            tensor, scaled = waiting.pop()
            if id(tensor) in seen:
                continue
            seen |= {id(tensor)}
            operation, node, place = history(tensor)
            if node is None:
                sources |= {id(tensor)}
                continue
            step = self._step(node)
            if reason == OUTPUT or _is_gate(step.activation, scaled):
                self._note(operation, step.activation, owners, reason)
            if step.inside is not None:
                ends = [step.inside.outputs[place]]
                reached = self._follow(ends, (*owners, *step.owner), reason)
                pairs = zip(step.inside.inputs, node.input_tensors, strict=False)
                waiting += [(outer, scaled) for t, outer in pairs if id(t) in reached]
            elif step.owner:
                self._note_parts(operation, owners, reason)
            elif _keeps_range(operation, node):
                scaled = scaled or type(operation).__name__ in _ARITHMETIC
                waiting += [(tensor, scaled) for tensor in node.input_tensors]
        return sources

    def _search(self, outputs: Sequence[Any], owners: Sequence[Node]) -> None:
        """Search a graph for gates and for activations that code calls."""
        for node in _nodes(outputs):
            step = self._step(node)
            operation, activation = node.operation, step.activation
            if step.inside is not None:
                self._search(step.inside.outputs, (*owners, *step.owner))
            elif type(operation).__name__ == "Multiply":
                tensors = {id(tensor): tensor for tensor in node.input_tensors}
                for tensor in tensors.values() if len(tensors) > 1 else ():
                    self._follow([tensor], owners, GATE)
            if not owners:
                continue
            caller = owners[-1] if activation in (None, operation) else operation
            self._called |= {(id(caller), _name(activation))}
            if step.inside is None and (step.owner or _calls_others(operation)):
                self._opaque |= set(map(id, owners))
            layer = isinstance(operation, keras.layers.Layer)
            if activation is operation and not layer:
                call = owners[-1], label(operation)
                if call not in self.calls and not _is_held(*call):
                    self.calls.append(call)

    def _step(self, node: Any) -> _Step:
        """Describe the operation of a node, once."""
        operation, inside = node.operation, None
        if id(operation) not in self._steps:
            owner = (operation,) if has_own_code(operation) else ()
            if owner:
                given = node.arguments
                inside = self._tracer.trace(operation, given.args, given.kwargs)
                self.not_searched += [operation] if inside is None else []
            elif is_graph(operation):
                inside = Inside(operation.inputs, operation.outputs)
            step = _Step(last_activation(operation), owner, inside)
            self._steps[id(operation)] = step
        return self._steps[id(operation)]


def _name(activation: Any) -> str:
    """Return the name of a Keras activation, or an empty string for any other."""
    name = label(activation)
    return name if name in KERAS_NAMES else ""


def _is_gate(activation: Any, scaled: bool) -> bool:
    """Return whether an activation whose output is multiplied by others is a gate."""
    name = _name(activation)
    capped = getattr(activation, "max_value", None) == 6 or name == "relu6"
    return name in _GATES or (capped and scaled)  # relu6(x + 3) / 6 is a hard sigmoid


def _calls_others(operation: Node) -> bool:
    """Return whether an operation may call layers or functions out of sight."""
    caller = type(operation).__name__ in _CALLERS
    return caller or isinstance(operation, keras.layers.RNN)


def _is_held(layer: Node, name: str) -> bool:
    """Return whether a layer, or an inner layer, has an activation of this name."""
    if isinstance(layer, keras.layers.Wrapper):
        return True
    held = (each for part in all_layers(layer) for each in held_by(part).values())
    return any(_name(each) in ("", name) for each in held)


def _keeps_range(operation: Node, node: Any) -> bool:
    name = type(operation).__name__
    if isinstance(operation, keras.layers.Layer):
        return name in _LAYERS
    if name not in _ARITHMETIC:
        return name in _OPERATORS
    arguments = keras.tree.flatten((node.arguments.args, node.arguments.kwargs))
    learned = any(isinstance(each, keras.Variable) for each in arguments)
    return len(node.input_tensors) == 1 and not learned


def _nodes(outputs: Sequence[Any]) -> Iterator[Any]:
    """Yield the nodes of a graph, each node once."""
    waiting, seen = list(outputs), set()
    while waiting:
        _, node, _ = history(waiting.pop())
        if node is not None and id(node) not in seen:
            seen |= {id(node)}
            yield node
            waiting += node.input_tensors
