"""`census` counts the activations of a model by what the backend computes."""

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import keras

from keras_vaf.layers import TrainableActivation

FUNCTIONS = (
    *("celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh"),
    *("leaky_relu", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("soft_shrink", "softplus", "softsign", "sparse_plus", "sparse_sigmoid"),
    *("squareplus", "tanh", "tanh_shrink", "threshold"),
)


class Call(NamedTuple):
    """A place in a model that calls an activation function.

    Args:
        path: Names of the layer that calls it and of the layers around that one.
        function: Name of the function.
        number: 0 for the first call of this function by this layer, 1 for the second.
    """

    path: str
    function: str
    number: int


def census(run: Callable[[], Any]) -> set[Call]:
    """Return where a model calls fixed activation functions.

    The functions of the backend are wrapped. The result therefore does not depend on
    what keras_vaf finds in a model. Calls by trainable activations do not count.

    Args:
        run: Calls the model once, without a compiled function.
    """
    stack: list[tuple[Any, Counter[str]]] = []
    found: set[Call] = set()
    busy = [False]  # one function of the backend may call another

    def entering(call: Callable) -> Callable:
        def enter(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if stack and stack[-1][0] is layer:
                return call(layer, *args, **kwargs)
            stack.append((layer, Counter()))
            try:
                return call(layer, *args, **kwargs)
            finally:
                stack.pop()

        return enter

    def noting(function: Callable, name: str) -> Callable:
        def note(*args: Any, **kwargs: Any) -> Any:
            if busy[0]:
                return function(*args, **kwargs)
            layers = [layer for layer, _ in stack]
            if not any(isinstance(layer, TrainableActivation) for layer in layers):
                calls = stack[-1][1] if stack else Counter[str]()
                path = "/".join(layer.name for layer in layers)
                found.add(Call(path, name, calls[name]))
                calls[name] += 1
            busy[0] = True
            try:
                return function(*args, **kwargs)
            finally:
                busy[0] = False

        return note

    with contextlib.ExitStack() as patches:
        for kind in (keras.Operation, keras.layers.Layer):
            enter = entering(kind.__call__)
            patches.enter_context(mock.patch.object(kind, "__call__", enter))
        # Keras does not export its backend.
        backend = keras.ops.relu.__globals__["backend"]
        for module in (backend.nn, backend.numpy):
            for name in FUNCTIONS:
                if function := getattr(module, name, None):
                    note = noting(function, name)
                    patches.enter_context(mock.patch.object(module, name, note))
        run()
    return found
