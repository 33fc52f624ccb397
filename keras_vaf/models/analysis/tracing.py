"""`Tracer`, which runs the code of layers on symbolic tensors to see its operations."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.models.surgery.graphs import Node

_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")


class Inside(NamedTuple):
    """The graph of a nested model, or of the code of a layer."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]


class Tracer:
    """Runs the code of layers, and of the layers that they call, on symbolic tensors.

    Use it as a context manager. On exit, it restores the nodes of the layers.
    """

    def __init__(self) -> None:
        self._nodes = contextlib.ExitStack()
        self._stack: list[Node] = []
        # References to operations are kept so that their ids are not reused.
        self._owners: dict[int, tuple[Node, list[Node]]] = {}
        self._entered: dict[int, Node] = {}

    def __enter__(self) -> "Tracer":
        """Start to record the nodes of layers."""
        self._nodes.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the nodes of all traces."""
        self._nodes.__exit__(None, None, None)

    def entered(self, layer: Node) -> bool:
        """Return whether the code of a layer was run by the code of another one."""
        return id(layer) in self._entered

    def owners(self, operation: Node) -> list[Node]:
        """Return the layers whose code called an operation, outermost first."""
        return self._owners.get(id(operation), (None, []))[1]

    def trace(self, layer: keras.layers.Layer, node: Any) -> Inside | None:
        """Return the graph of a layer's code, or `None` if it cannot run on symbols.

        Args:
            layer: The layer.
            node: A call of the layer.
        """
        for part in layer._flatten_layers():
            self._nodes.callback(_forget_nodes, part, *_node_counts(part))
        arguments = (node.arguments.args, node.arguments.kwargs)
        args, kwargs = keras.tree.map_structure(_fresh, arguments)
        leaves = keras.tree.flatten((args, kwargs))
        inputs = [each for each in leaves if isinstance(each, keras.KerasTensor)]
        try:
            with self._patches():
                outputs = self._run(layer, args, kwargs)
        except Exception:  # third-party code may raise any error
            return None
        return Inside(inputs, keras.tree.flatten(outputs))

    def _run(self, layer: Any, args: Any, kwargs: Any) -> Any:
        known = inspect.signature(layer.call).parameters.values()
        if not any(p.name == "training" or p.kind is p.VAR_KEYWORD for p in known):
            kwargs = {key: each for key, each in kwargs.items() if key != "training"}
        self._stack.append(layer)
        try:
            return layer.call(*args, **kwargs)
        finally:
            self._stack.pop()

    @contextlib.contextmanager
    def _patches(self) -> Iterator[None]:
        """Make layers run their code, and allow operations of tensors with symbols."""
        with contextlib.ExitStack() as patches:
            call = keras.layers.Layer.__call__
            make = keras.Operation.symbolic_call
            patches.callback(setattr, keras.layers.Layer, "__call__", call)
            patches.callback(setattr, keras.Operation, "symbolic_call", make)
            keras.layers.Layer.__call__ = self._entering(call)
            keras.Operation.symbolic_call = self._noting(make)
            for name in _OPERATORS:
                _leave_to_symbols(f"__{name}__", patches)
            if "__jax_array__" in vars(keras.KerasTensor):  # this method only raises
                method = keras.KerasTensor.__jax_array__
                patches.callback(setattr, keras.KerasTensor, "__jax_array__", method)
                del keras.KerasTensor.__jax_array__
            yield

    def _entering(self, call: Callable) -> Callable:
        def enter(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if has_own_code(layer):
                try:
                    outputs = self._run(layer, args, kwargs)
                except Exception:  # a single operation stands for the layer
                    self._entered.pop(id(layer), None)
                else:
                    self._entered[id(layer)] = layer
                    return outputs
            self._note(layer)
            return call(layer, *args, **kwargs)

        return enter

    def _noting(self, call: Callable) -> Callable:
        def note(operation: Node, *args: Any, **kwargs: Any) -> Any:
            self._note(operation)
            return call(operation, *args, **kwargs)

        return note

    def _note(self, operation: Node) -> None:
        owners = self._owners.setdefault(id(operation), (operation, []))[1]
        owners += [layer for layer in self._stack if layer not in owners]


def has_own_code(operation: Node) -> bool:
    """Return whether a layer runs code from outside of Keras and this package."""
    if isinstance(operation, keras.layers.Lambda | keras.layers.Wrapper):
        return True
    if not isinstance(operation, keras.layers.Layer):
        return False
    if isinstance(operation, keras.Function | keras.Sequential):
        return False
    module = getattr(type(operation).call, "__module__", "")
    return module.split(".")[0] not in ("keras", "keras_vaf")


def _leave_to_symbols(name: str, patches: contextlib.ExitStack) -> None:
    """Make `variable <operator> symbol` use the operator of the symbolic tensor."""
    original = getattr(keras.Variable, name)

    def operate(variable: Any, other: Any) -> Any:
        symbolic = isinstance(other, keras.KerasTensor)
        return NotImplemented if symbolic else original(variable, other)

    if name in vars(keras.Variable):
        patches.callback(setattr, keras.Variable, name, original)
    else:
        patches.callback(delattr, keras.Variable, name)
    setattr(keras.Variable, name, operate)


def _fresh(argument: Any) -> Any:
    """Return a new symbolic tensor with unknown sizes replaced by known ones."""
    if not isinstance(argument, keras.KerasTensor):
        return argument
    sizes = (2, *[8] * (len(argument.shape) - 1))
    shape = [size or free for size, free in zip(argument.shape, sizes, strict=False)]
    return keras.KerasTensor(shape, argument.dtype)


def _node_counts(layer: Node) -> tuple[int, int]:
    return len(layer._inbound_nodes), len(layer._outbound_nodes)


def _forget_nodes(layer: Node, inbound: int, outbound: int) -> None:
    """Remove the nodes that a trace added to a layer."""
    del layer._inbound_nodes[inbound:]
    del layer._outbound_nodes[outbound:]
