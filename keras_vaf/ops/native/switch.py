"""`plain_operators`, which leaves native kernels out of a program."""

import contextlib
from collections.abc import Iterator

from keras_vaf.ops.differentiation import Switch

_state = Switch()


@contextlib.contextmanager
def plain_operators() -> Iterator[None]:
    """Use only the framework's own operators in this context.

    Programs for inference never contain native kernels. A program that trains may
    contain them where they are active. To export a training step that runs elsewhere,
    trace it in this context. Results stay the same.

    The context acts in the current thread only, not in threads that start inside it.
    The environment variable `KERAS_VAF_KERNELS=0` switches the kernels off for a
    process and its child processes.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation()
    >>> with keras_vaf.ops.plain_operators():
    ...     y = layer(np.ones((1, 2), "float32"), training=True)
    """
    with _state.on():
        yield


def kernels_are_off() -> bool:
    """Return whether native kernels are left out."""
    return _state.is_on
