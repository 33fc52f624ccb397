"""The switch from this package's gradient to the backend's own."""

import contextlib
import threading
from collections.abc import Iterator

FORWARD_MODE = (
    "Trainable activations have a gradient of their own, in reverse mode. For forward "
    "mode differentiation run or trace the function inside "
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
    the input and takes longer. Forward mode, which a function with a gradient of its
    own does not have, needs this on JAX (`jax.jvp`, `jax.jacfwd`) and on TensorFlow
    (`tf.autodiff.ForwardAccumulator`). On PyTorch forward mode over itself does
    (`jacfwd` of `jacfwd`), as for any function with a gradient of its own. Under
    compilation what counts is where the function is traced.

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
    """Whether differentiation is left to the backend."""
    return _state.plain
