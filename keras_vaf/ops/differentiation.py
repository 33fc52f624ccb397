"""`plain_differentiation`, which switches to the backend's own gradient."""

import contextlib
import threading
from collections.abc import Iterator

FORWARD_MODE = (
    "Trainable activations define their gradient in reverse mode. For forward mode "
    "differentiation run or trace the function inside "
    "`with keras_vaf.ops.plain_differentiation():`."
)


class Switch(threading.local):  # not a ContextVar, which `torch.compile` cannot trace
    """A switch for the current thread, turned on by a context manager."""

    def __init__(self) -> None:
        self.is_on = False

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Turn the switch on in this context."""
        before, self.is_on = self.is_on, True
        try:
            yield
        finally:
            self.is_on = before


_state = Switch()


@contextlib.contextmanager
def plain_differentiation() -> Iterator[None]:
    """Leave differentiation to the backend, in this context.

    Outputs stay the same. The backward pass then stores several tensors of the size of
    the input and takes longer. Use this context for a `tf.function` that
    is called inside a `tf.autodiff.ForwardAccumulator`. JAX and PyTorch do not need it.
    A compiled function must be traced in this context.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
    >>> with keras_vaf.ops.plain_differentiation():
    ...     y = layer(np.ones((1, 2), "float32"))
    """
    with _state.on():
        yield


def is_plain() -> bool:
    """Return whether differentiation is left to the backend."""
    return _state.is_on
