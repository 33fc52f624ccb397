"""`reasons_to_keep`, which finds activations that shape an output, and gates."""

from collections.abc import Iterator, Sequence
from typing import Any

import keras

from keras_vaf.layers.keras_internals import all_layers, history
from keras_vaf.models import fixed
from keras_vaf.models.graphs.checks import is_graph

OUTPUT = "it shapes an output of the model"
GATE = "it is a gate that multiplies other values"
GATES = ("hard_sigmoid", "sigmoid", "tanh")
_MAY_BE_A_GATE = "it may be a gate, or shape an output; name it in `layers`"
_JOINS = ("Average", "Concatenate", "Maximum", "Minimum", "Stack")
# Layers that may end in an activation.
_SHAPING = (*fixed.BUILT_IN, keras.layers.Wrapper)
_SCALING = ("Divide", "Multiply", "Rescaling", "TrueDivide")


def reasons_to_keep(model: keras.Model) -> dict[int, str]:
    """Return the reasons to keep activations, by the id of the layer.

    An activation shapes an output, or a sigmoid or tanh gates a product, if only
    operations without weights follow that have one input or join their inputs. In a
    model without a graph, the last layer, and each sigmoid or tanh, may do so.
    """
    found: dict[int, str] = {}
    if not is_graph(model):
        for layer in all_layers(model, include_self=False):
            own = (*fixed.held_by(layer).values(), layer)
            if any(fixed.label(each) in GATES for each in own):
                found[id(layer)] = _MAY_BE_A_GATE
        found[id(model)] = _MAY_BE_A_GATE
        last = all_layers(model.layers[-1]) if model.layers else ()
        return found | {id(layer): OUTPUT for layer in last}
    outputs = getattr(model, "outputs", None)
    if not outputs:  # a Sequential model that is not built
        for layer in reversed(model.layers):
            found[id(layer)] = OUTPUT
            if hasattr(layer, "activation") or fixed.is_activation(layer):
                break
        return found
    _follow(outputs, OUTPUT, found)
    for node in nodes(outputs):
        tensors = {id(tensor): tensor for tensor in node.input_tensors}
        if type(node.operation).__name__ == "Multiply" and len(tensors) > 1:
            _follow([*tensors.values()], GATE, found)
    return found


def _follow(tensors: Sequence[Any], reason: str, found: dict[int, str]) -> set[int]:
    """Go back while operations keep the range of their input, and return inputs."""
    sources, seen = set[int](), set[int]()
    waiting = [(tensor, False) for tensor in tensors]
    while waiting:
        tensor, scaled = waiting.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        operation, node, place = history(tensor)
        if node is None:
            sources.add(id(tensor))
            continue
        if is_graph(operation):
            reached = _follow([operation.outputs[place]], reason, found)
            pairs = zip(operation.inputs, node.input_tensors, strict=False)
            waiting += [(outer, scaled) for t, outer in pairs if id(t) in reached]
            continue
        activation = operation if fixed.is_activation(operation) else None
        if fixed.has_built_in(operation):
            activation = operation.activation
        free = not getattr(operation, "weights", ())
        if reason == OUTPUT:
            if activation is not None or free or isinstance(operation, _SHAPING):
                found.setdefault(id(operation), reason)
        elif activation is not None and _is_gate(activation, scaled):
            found.setdefault(id(operation), reason)
        name = type(operation).__name__
        arguments = keras.tree.flatten((node.arguments.args, node.arguments.kwargs))
        weighted = any(isinstance(each, keras.Variable) for each in arguments)
        one = len(node.input_tensors) == 1 or name in _JOINS
        if activation is None and free and one and not weighted:
            scaled = scaled or name in _SCALING
            waiting += [(each, scaled) for each in node.input_tensors]
    return sources


def _is_gate(activation: Any, scaled: bool) -> bool:
    """Return whether an activation whose output is multiplied by others is a gate."""
    name = fixed.label(activation)
    limited = name == "relu6" or getattr(activation, "max_value", None) == 6
    return name in GATES or (limited and scaled)  # relu6(x + 3) / 6


def nodes(outputs: Sequence[Any], inside: bool = True) -> Iterator[Any]:
    """Yield the calls in a graph, and in the models inside, each once."""
    waiting, seen = list(outputs), set()
    while waiting:
        operation, node, _ = history(waiting.pop())
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += node.input_tensors
            if inside and is_graph(operation):
                yield from nodes(operation.outputs)
