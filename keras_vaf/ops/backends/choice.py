"""`is_small` and `plain_is_faster`: which form of a call takes the least time.

The limits are for two processors. The names in brackets are tables of the benchmark
(docs/reports/benchmarks/cpu.md). Its rows "VAF, at once" compute all hidden units in
one tensor, and its rows "VAF, own gradient" use this package's gradient.
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

SMALL = 65_536
"""Elements of an input, times hidden units, up to which one tensor holds all units.

With k = 3, TensorFlow and PyTorch take less time with it than with this package's
gradient up to 16,384 elements, and at 65,536 with tanh only ["Limits: 16384 elements",
"Limits: 65536 elements"]. This form keeps several tensors of k times the size of the
input for the backward pass, so the limit is low.
"""
FEW = 2_048
"""Elements of an input up to which JAX does so.

In a training step with 2,048 elements in each layer, JAX takes less time with it for
relu. With 8,192 elements it takes more for tanh, and with 32,768 for both, because XLA
merges plain operations with those of the neighbouring layers ["Training step with a
batch of 32", "of 128", "of 512"].
"""
MEDIUM = 32_768
"""Elements up to which JAX differentiates a homogeneous g, as relu is, by itself.

The step of a network takes less time so with 32,768 elements in each layer, and more
with 65,536 ["Training step with a batch of 512", "of 1024"].
"""
MEDIUM_SMOOTH = 131_072
"""Elements up to which JAX keeps the values of a smooth g.

With tanh, JAX's own differentiation ("VAF, autodiff") takes less time than this
package's gradient at all sizes from 4,096 to 262,144 elements ["Limits"]. The limit is
for memory: the kept values take k times the memory of the input.
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
    of medium size the compiler keeps g instead, and merges the operation with its
    neighbours (`MEDIUM`, `MEDIUM_SMOOTH`).

    Args:
        function: The function f.
        elements: Elements of the input.
    """
    if not isinstance(function, VAF):
        return False
    homogeneous = elementwise(function.g).homogeneous
    return elements <= (MEDIUM if homogeneous else MEDIUM_SMOOTH)
