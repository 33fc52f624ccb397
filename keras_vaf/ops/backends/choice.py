"""`is_small` and `plain_is_faster`: which form of a call takes the least time.

The limits are for two processors. The names in brackets are tables of the benchmark
(docs/reports/benchmarks/cpu.md): rows "VAF, k=3" against "VAF, own gradient".
"""

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
"""Elements of an input, times hidden units, up to which one tensor holds all units.

TensorFlow and PyTorch take less time with it at 2,048 and at 10,240 elements and k = 3
["2048 elements", "10240 elements"]. A larger tensor would not stay in the cache.
"""
FEW = 4_096
"""Elements of an input up to which JAX does so. XLA merges larger loops better.

JAX takes less time with it at 2,048 elements ["2048 elements"]. The study `limits` of
the benchmark measures larger inputs.
"""
MEDIUM = 131_072
"""Elements up to which JAX keeps the values of a smooth g. They fit into the cache.

With tanh, JAX's own differentiation takes less time at 102,400 and at 409,600 elements
("VAF, autodiff") ["102400 elements", "409600 elements"]. There the limit is memory: the
kept values take k times the memory of the input.
"""
USUAL_SIZE = 128
"""Elements for which an unknown size counts. Batches are seldom much larger."""

_many = Switch()


@contextlib.contextmanager
def many_networks() -> Iterator[None]:
    """Take no call for small, in this context: `jax.vmap` maps it over many networks.

    XLA takes several times as long for all hidden units in one tensor if it is large.
    """
    with _many.on():
        yield


def is_small(
    function: Pointwise,
    shape: Sequence[int | None],
    parameters: Sequence[Tensor],
    covered: bool,
) -> TypeGuard[VAF]:
    """Tell whether all hidden units of a call are computed at once, in one tensor.

    The number of operations determines the time of a small call. With one tensor for
    all hidden units there are few, and the backend differentiates them itself
    (`SMALL`, `FEW`).

    Args:
        function: The function f.
        shape: Shape of the input. Unknown sizes count as 128.
        parameters: Parameters of f. The last axis of the first one are hidden units.
        covered: Whether the native kernels take the call. They are as fast if g is
            homogeneous, as relu is, and slower in gradients of gradients if not.
    """
    if not isinstance(function, VAF) or _many.is_on:
        return False
    if covered and elementwise(function.g).homogeneous:
        return False
    sizes = (size if isinstance(size, int) else USUAL_SIZE for size in shape)
    return math.prod(sizes) * parameters[0].shape[-1] <= SMALL


def plain_is_faster(function: Pointwise, elements: int) -> bool:
    """Tell whether a compiler's own differentiation of a call takes less time.

    This package's gradient computes g again and forms its sums in blocks. For an input
    of medium size the compiler keeps a smooth g instead, and merges the operation with
    its neighbours (`MEDIUM`).

    Args:
        function: The function f.
        elements: Elements of the input.
    """
    if not isinstance(function, VAF):
        return False
    return elements <= MEDIUM and not elementwise(function.g).homogeneous
