"""The switch from this package's gradient to the backend's own."""

import contextlib
import threading
from collections.abc import Iterator

FORWARD_MODE = (
    "Trainable activations define their gradient in reverse mode. For forward mode "
    "differentiation run or trace the function inside "
    "`with keras_vaf.ops.plain_differentiation():`."
)


class _State(threading.local):  # not a ContextVar, which `torch.compile` cannot trace
    def __init__(self) -> None:
        self.plain = False


_state = _State()


@contextlib.contextmanager
def plain_differentiation() -> Iterator[None]:
    """Leave differentiation to the backend, in this context.

    Outputs stay the same. The backward pass then keeps several tensors of the size of
    the input and takes longer. Use it for forward mode, which a custom gradient does
    not support on TensorFlow (`tf.autodiff.ForwardAccumulator`), nor over itself on
    PyTorch (`jacfwd` of `jacfwd`). JAX needs no switch. A compiled function must be
    traced in this context.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
    >>> with keras_vaf.ops.plain_differentiation():
    ...     y = layer(np.ones((1, 2), "float32"))
    """
    before, _state.plain = _state.plain, True
    try:
        yield
    finally:
        _state.plain = before


def is_plain() -> bool:
    """Tell whether differentiation is left to the backend."""
    return _state.plain
