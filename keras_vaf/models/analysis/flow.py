"""`Flow`, which finds activations that shape an output or gate other values."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import keras

from keras_vaf.layers.keras_internals import all_layers, history
from keras_vaf.models.analysis.fixed_activations import (
    has_built_in,
    is_activation,
    label,
)
from keras_vaf.models.analysis.graphs import (
    Node,
    has_own_code,
    is_graph,
    symbolic_inputs,
)
from keras_vaf.models.analysis.held import held_by
from keras_vaf.models.analysis.tracing import Inside, Tracer
from keras_vaf.ops.activations import KERAS_NAMES

OUTPUT = "it shapes an output of the model"
GATE = "it is a gate that multiplies other values"
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


class Flow:
    """Follows values through the graph of a model and through the code of its layers.

    Code is followed if it runs on symbolic tensors.

    Args:
        model: A Sequential or Functional model, or a subclassed model with weights.

    Attributes:
        calls: Layers whose code calls an activation that is not an attribute, each with
            the name of the activation.
        not_searched: Layers whose code cannot be followed.
    """

    def __init__(self, model: keras.Model) -> None:
        self.calls: list[tuple[Node, str]] = []
        self.not_searched: list[Node] = []
        self._reasons: dict[int, str] = {}
        self._reasons_in_code: dict[tuple[int, str], str] = {}
        self._code: dict[int, Inside | None] = {}
        self._called: set[tuple[int, str]] = set()
        self._opaque: set[int] = set()  # their code makes calls that cannot be followed
        with Tracer() as self._tracer:
            if getattr(model, "outputs", None):
                self._follow(model.outputs, (), OUTPUT)
                self._search(model.outputs, ())
            elif is_graph(model):
                self._chain(model)
            else:
                self._follow_code(model)

    def reason(self, activation: Any, layer: Node) -> str | None:
        """Return the reason why an activation must be kept, or `None`.

        Args:
            activation: A layer, an operation or a function.
            layer: The activation itself if it is a layer, or the layer that applies it.
        """
        if self._code.get(id(layer)) is None:
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
        operation = _origin(activation(keras.KerasTensor((2, 2))))[0]
        return _name(operation) == name != ""

    def _follow_code(self, model: keras.Model) -> None:
        """Follow the code of a model that is not a graph."""
        inside = self._tracer.trace(model, [symbolic_inputs(model)], {})
        if inside is not None:
            self._follow(inside.outputs, (model,), OUTPUT)
            self._search(inside.outputs, (model,))
            return
        self.not_searched.append(model)
        for part in all_layers(model, include_self=False):  # any may be the last
            self._note(part, (), OUTPUT)

    def _chain(self, model: keras.Model) -> None:
        """Record the last layers of a Sequential model that is not built."""
        for layer in reversed(model.layers):
            self._reasons[id(layer)] = OUTPUT
            if is_graph(layer):
                self._chain(layer)
            if type(layer).__name__ not in _LAYERS:
                break

    def _note(self, operation: Node, owners: Sequence[Node], reason: str) -> None:
        self._reasons.setdefault(id(operation), reason)
        built_in = has_built_in(operation)
        if not built_in and not is_activation(operation):
            return
        # A function from outside of Keras leaves operators with other names.
        names = {_name(operation.activation if built_in else operation)}
        names |= set() if _is_layer(operation) else {""}
        for name, owner in itertools.product(names, owners):
            self._reasons_in_code.setdefault((id(owner), name), reason)

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
            seen.add(id(tensor))
            operation, node, place = _origin(tensor)
            if node is None:
                sources.add(id(tensor))
                continue
            if reason == OUTPUT or _is_gate(operation, scaled):
                self._note(operation, owners, reason)
            inside = self._inside(operation, node)
            if inside is not None:
                inner = owners if is_graph(operation) else (*owners, operation)
                reached = self._follow([inside.outputs[place]], inner, reason)
                pairs = zip(inside.inputs, node.input_tensors, strict=False)
                waiting += [(outer, scaled) for t, outer in pairs if id(t) in reached]
            elif id(operation) in self._code:  # any of its parts may be its last
                for part in all_layers(operation, include_self=False):
                    self._note(part, owners, reason)
            elif _keeps_range(operation, node):
                scaled = scaled or type(operation).__name__ in _ARITHMETIC
                waiting += [(tensor, scaled) for tensor in node.input_tensors]
        return sources

    def _search(self, outputs: Sequence[Any], owners: Sequence[Node]) -> None:
        """Search a graph for gates and for activations that code calls."""
        for operation, node in _nodes(outputs):
            inside = self._inside(operation, node)
            if inside is not None:
                inner = owners if is_graph(operation) else (*owners, operation)
                self._search(inside.outputs, inner)
            elif type(operation).__name__ == "Multiply":
                tensors = {id(tensor): tensor for tensor in node.input_tensors}
                for tensor in tensors.values() if len(tensors) > 1 else ():
                    self._follow([tensor], owners, GATE)
            built_in = has_built_in(operation)
            name = _name(operation.activation if built_in else operation)
            if owners:
                self._called.add((id(operation if built_in else owners[-1]), name))
            if inside is None and _is_opaque(operation):
                self._opaque |= set(map(id, owners))
            if owners and is_activation(operation) and not _is_layer(operation):
                call = owners[-1], label(operation)
                if call not in self.calls and not _is_held(*call):
                    self.calls.append(call)

    def _inside(self, operation: Node, node: Any) -> Inside | None:
        if is_graph(operation):
            return Inside(operation.inputs, operation.outputs)
        if not has_own_code(operation):
            return None
        if id(operation) not in self._code:
            self._code[id(operation)] = self._tracer.trace(
                operation, node.arguments.args, node.arguments.kwargs
            )
            if self._code[id(operation)] is None:
                self.not_searched.append(operation)
        return self._code[id(operation)]


def _name(activation: Any) -> str:
    """Return the name of a Keras activation, or an empty string for any other."""
    name = label(activation)
    return name if name in KERAS_NAMES else ""


def _origin(tensor: Any) -> tuple[Node, Any, int]:
    """Return the operation that made a tensor, its node, and the tensor's position.

    The node of an input is `None`.
    """
    operation, node, place = history(tensor)
    return operation, None if node is None or node.is_input else node, place


def _is_gate(operation: Node, scaled: bool) -> bool:
    """Return whether an operation whose output is multiplied by others is a gate."""
    activation = operation.activation if has_built_in(operation) else operation
    name = label(activation)
    capped = getattr(activation, "max_value", None) == 6 or name == "relu6"
    return name in _GATES or (capped and scaled)  # relu6(x + 3) / 6 is a hard sigmoid


def _is_layer(operation: Node) -> bool:
    return isinstance(operation, keras.layers.Layer)


def _is_opaque(operation: Node) -> bool:
    """Return whether an operation may call layers or functions out of sight."""
    if type(operation).__name__ in _CALLERS:
        return True
    return has_own_code(operation) or isinstance(operation, keras.layers.RNN)


def _is_held(layer: Node, name: str) -> bool:
    """Return whether a layer, or an inner layer, has an activation of this name."""
    if isinstance(layer, keras.layers.Wrapper):
        return True
    held = (each for part in all_layers(layer) for each in held_by(part).values())
    return any(_name(each) in ("", name) for each in held)


def _keeps_range(operation: Node, node: Any) -> bool:
    name = type(operation).__name__
    if _is_layer(operation):
        return name in _LAYERS
    if name not in _ARITHMETIC:
        return name in _OPERATORS
    arguments = keras.tree.flatten((node.arguments.args, node.arguments.kwargs))
    learned = any(isinstance(each, keras.Variable) for each in arguments)
    return len(node.input_tensors) == 1 and not learned


def _nodes(outputs: Sequence[Any]) -> Iterator[tuple[Node, Any]]:
    """Yield the operations of a graph and their nodes, each node once."""
    waiting, seen = list(outputs), set()
    while waiting:
        operation, node, _ = _origin(waiting.pop())
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield operation, node
            waiting += node.input_tensors
