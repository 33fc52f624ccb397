"""`Tracer`, which runs the code of layers on symbolic tensors to see its operations."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.layers.keras_internals import all_layers, node_lists
from keras_vaf.models.analysis.graphs import has_own_code


class Inside(NamedTuple):
    """The graph of a nested model, or of the code of a layer."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]


class Tracer(contextlib.ExitStack):
    """Runs the code of layers on symbolic tensors.

    Use it as a context manager. On exit, it restores the nodes of the layers.
    """

    def trace(
        self, layer: keras.layers.Layer, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Inside | None:
        """Return the graph of a layer's code, or `None` if it cannot run on symbols.

        Args:
            layer: The layer.
            args: Symbolic and other arguments of a call of the layer.
            kwargs: Arguments of the same call, by name.
        """
        parts = all_layers(layer)
        for part in parts:
            for nodes in node_lists(part):
                self.callback(_shorten, nodes, len(nodes))
        args, kwargs = keras.tree.map_structure(_fresh, (args, kwargs))
        known = inspect.signature(layer.call).parameters.values()
        if not any(p.name == "training" or p.kind is p.VAR_KEYWORD for p in known):
            kwargs.pop("training", None)
        try:
            with _running_code(parts):
                outputs = layer.call(*args, **kwargs)
        except Exception:  # third-party code may raise any error
            return None
        outputs = map(_symbol, keras.tree.flatten(outputs))
        return Inside(_tensors((args, kwargs)), list(outputs))


@contextlib.contextmanager
def _running_code(layers: Sequence[keras.layers.Layer]) -> Iterator[None]:
    """Make layers run their code to find the shapes of their outputs.

    In some layers, the method for this purpose does not take the arguments of `call`.
    """
    own = [layer for layer in layers if has_own_code(layer)]
    for layer in own:
        known = layer.compute_output_spec
        layer.compute_output_spec = functools.partial(_specify, layer, known)
    try:
        yield
    finally:
        for layer in own:
            del layer.compute_output_spec


def _specify(layer: Any, known: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return new symbolic tensors for the outputs of a layer."""
    try:
        outputs = layer.call(*args, **kwargs)
    except Exception:  # third-party code may raise any error
        return known(*args, **kwargs)
    return keras.tree.map_structure(lambda each: _fresh(_symbol(each)), outputs)


def _symbol(output: Any) -> keras.KerasTensor:
    """Return a symbolic tensor for an output of a layer, which may be a constant."""
    if isinstance(output, keras.KerasTensor):
        return output
    dtype = keras.backend.standardize_dtype(getattr(output, "dtype", "float32"))
    return keras.KerasTensor(tuple(getattr(output, "shape", ())), dtype)


def _tensors(structure: Any) -> list[Any]:
    """Return the symbolic tensors in a structure."""
    leaves = keras.tree.flatten(structure)
    return [each for each in leaves if isinstance(each, keras.KerasTensor)]


def _fresh(argument: Any) -> Any:
    """Return a new symbolic tensor with unknown sizes replaced by known ones."""
    if not isinstance(argument, keras.KerasTensor):
        return argument
    sizes = (2, *[8] * (len(argument.shape) - 1))
    shape = [size or free for size, free in zip(argument.shape, sizes, strict=False)]
    return keras.KerasTensor(shape, argument.dtype)


def _shorten(nodes: list[Any], length: int) -> None:
    """Remove the nodes that a trace added to a layer."""
    del nodes[length:]
