"""`is_small` and `plain_is_faster`, which choose the fastest form of a call."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.differentiation import Switch
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.vaf import VAF
from keras_vaf.types import Tensor

SMALL = 32_768
"""Most elements times hidden units for which one tensor holds all hidden units."""
MEDIUM = 131_072
"""Most elements for which JAX stores the values of a smooth g, in the cache."""
USUAL_SIZE = 128
"""Assumed size of an axis of unknown size. A batch is seldom much larger."""

_many = Switch()


@contextlib.contextmanager
def many_networks() -> Iterator[None]:
    """Treat no call as small in this context, in which `jax.vmap` maps many networks.

    If one tensor for all hidden units is large, XLA takes several times as long.
    """
    with _many.on():
        yield


def is_small(
    function: Pointwise,
    shape: Sequence[int | None],
    parameters: Sequence[Tensor],
    covered: bool,
) -> TypeGuard[VAF]:
    """Return whether to compute all hidden units of a call at once, in one tensor.

    The number of operations determines the time of a small call. With one tensor for
    all hidden units there are few operations, and the backend differentiates them
    itself. The limit was measured on two processor cores with each backend.

    Args:
        function: The function f.
        shape: Shape of the input. Unknown sizes count as 128.
        parameters: Parameters of f. Their last axis indexes hidden units.
        covered: Whether the native kernels support the call. For a homogeneous g, such
            as relu, they are as fast. For other g, they are slower in second
            derivatives.
    """
    if not isinstance(function, VAF) or _many.is_on:
        return False
    if covered and elementwise(function.g).homogeneous:
        return False
    sizes = (size if isinstance(size, int) else USUAL_SIZE for size in shape)
    return math.prod(sizes) * parameters[0].shape[-1] <= SMALL


def plain_is_faster(function: Pointwise, elements: int) -> bool:
    """Return whether the compiler's own gradient takes less time than this package's.

    This package's gradient computes g again and forms its sums in blocks. For an input
    of medium size, the compiler stores a smooth g instead and merges the operation with
    its neighbours, which is faster. The limit was measured with XLA on two processor
    cores.

    Args:
        function: The function f.
        elements: Number of elements of the input.
    """
    if not isinstance(function, VAF):
        return False
    return elements <= MEDIUM and not elementwise(function.g).homogeneous
