"""The switch from this package's gradient to the backend's own."""

import contextlib
import contextvars
from collections.abc import Iterator

FORWARD_MODE = (
    "Trainable activations have a gradient of their own, in reverse mode. For forward "
    "mode differentiation run or trace the function inside "
    "`with keras_vaf.ops.plain_differentiation():`."
)

_plain = contextvars.ContextVar("plain_differentiation", default=False)


@contextlib.contextmanager
def plain_differentiation() -> Iterator[None]:
    """Leave differentiation to the backend, in this context.

    Outputs stay the same. The backward pass then keeps several tensors of the size of
    the input and takes longer. Forward mode, which a function with a gradient of its
    own does not have, needs this on JAX (`jax.jvp`, `jax.jacfwd`) and on TensorFlow
    (`tf.autodiff.ForwardAccumulator`). Under compilation what counts is where the
    function is traced.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
    >>> with keras_vaf.ops.plain_differentiation():
    ...     y = layer(np.ones((1, 2), "float32"))
    """
    token = _plain.set(True)
    try:
        yield
    finally:
        _plain.reset(token)


def is_plain() -> bool:
    """Whether differentiation is left to the backend."""
    return _plain.get()
