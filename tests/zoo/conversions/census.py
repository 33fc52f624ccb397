"""`census` counts the activations of a model by what the backend computes."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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
    return _Census().calls(run)


class _Census:
    def __init__(self) -> None:
        self._stack: list[tuple[Any, Counter[str]]] = []
        self._calls: set[Call] = set()
        self._busy = False  # one function of the backend may call another

    def calls(self, run: Callable[[], Any]) -> set[Call]:
        with contextlib.ExitStack() as patches:
            for kind in (keras.Operation, keras.layers.Layer):
                patches.enter_context(_patched(kind, "__call__", self._entering))
            # Keras does not export its backend.
            backend = keras.ops.relu.__globals__["backend"]
            for module in (backend.nn, backend.numpy):
                for name in FUNCTIONS:
                    if hasattr(module, name):
                        patches.enter_context(_patched(module, name, self._noting))
            run()
        return self._calls

    def _entering(self, call: Callable, name: str) -> Callable:
        def enter(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if self._stack and self._stack[-1][0] is layer:
                return call(layer, *args, **kwargs)
            self._stack.append((layer, Counter()))
            try:
                return call(layer, *args, **kwargs)
            finally:
                self._stack.pop()

        return enter

    def _noting(self, function: Callable, name: str) -> Callable:
        def note(*args: Any, **kwargs: Any) -> Any:
            if self._busy:
                return function(*args, **kwargs)
            self._note(name)
            self._busy = True
            try:
                return function(*args, **kwargs)
            finally:
                self._busy = False

        return note

    def _note(self, function: str) -> None:
        layers = [layer for layer, _ in self._stack]
        if any(isinstance(layer, TrainableActivation) for layer in layers):
            return
        calls = self._stack[-1][1] if self._stack else Counter[str]()
        path = "/".join(layer.name for layer in layers)
        self._calls.add(Call(path, function, calls[function]))
        calls[function] += 1


@contextlib.contextmanager
def _patched(
    holder: Any, name: str, wrap: Callable[[Callable, str], Callable]
) -> Iterator[None]:
    own = name in vars(holder)
    original = getattr(holder, name)
    setattr(holder, name, wrap(original, name))
    try:
        yield
    finally:
        if own:
            setattr(holder, name, original)
        else:
            delattr(holder, name)
