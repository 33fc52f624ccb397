"""`plain_differentiation` and `plain_operators`, which leave work to the backend."""

import contextlib
import threading
from collections.abc import Iterator

FORWARD_MODE = (
    "Trainable activations define their gradient in reverse mode. For forward mode "
    "differentiation run or trace the function inside "
    "`with keras_vaf.ops.plain_differentiation():`."
)


class _Switch(threading.local):  # not a ContextVar, which `torch.compile` cannot trace
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


_without_gradient, _without_kernels = _Switch(), _Switch()


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
    with _without_gradient.on():
        yield


@contextlib.contextmanager
def plain_operators() -> Iterator[None]:
    """Use only the framework's own operators in this context.

    Exported programs never contain native kernels, but a SavedModel that trains on
    TensorFlow may. To export a training step from there, trace it in this context.
    Results stay the same.

    The context acts in the current thread only, not in threads that start inside it.
    The environment variable `KERAS_VAF_KERNELS=0` switches the kernels off for a
    process and its child processes.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation()
    >>> with keras_vaf.ops.plain_operators():
    ...     y = layer(np.ones((1, 2), "float32"), training=True)
    """
    with _without_kernels.on():
        yield


def is_plain() -> bool:
    """Return whether differentiation is left to the backend."""
    return _without_gradient.is_on


def kernels_are_off() -> bool:
    """Return whether native kernels are left out."""
    return _without_kernels.is_on
