"""`plain_operators`, which leaves out the native kernels."""

import contextlib
import threading
from collections.abc import Iterator


class _Switch(threading.local):  # not a ContextVar, which `torch.compile` cannot trace
    is_on = False


_without_kernels = _Switch()


@contextlib.contextmanager
def plain_operators() -> Iterator[None]:
    """Use only the framework's own operators in this context.

    On JAX and TensorFlow, export a training step, and on JAX any derivative, inside
    this context. Trace it there: a step that was jitted before must be jitted again.
    Results stay the same. The context acts in the current thread only. The environment
    variable `KERAS_VAF_KERNELS=0` switches the kernels off for a process and its child
    processes.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation()
    >>> with keras_vaf.ops.plain_operators():
    ...     y = layer(np.ones((1, 2), "float32"), training=True)
    """
    before, _without_kernels.is_on = _without_kernels.is_on, True
    try:
        yield
    finally:
        _without_kernels.is_on = before


def kernels_are_off() -> bool:
    """Return whether native kernels are left out."""
    return _without_kernels.is_on
