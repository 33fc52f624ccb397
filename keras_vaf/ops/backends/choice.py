"""`plain_is_faster`: when the backend differentiates better than this package."""

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.vaf import VAF

FEW_UNITS = 4
"""Hidden units up to which a small array of a homogeneous g is left to the backend."""
SMALL = 4_096
"""Elements of an array that is left to the backend if g is homogeneous, as relu is."""
MEDIUM = 131_072
"""The same for every other g. k tensors of this size fit into the cache."""


def plain_is_faster(function: Pointwise, elements: int, k: int) -> bool:
    """Tell whether a compiler's own differentiation of a call takes less time.

    This package's gradient computes g again and forms its sums in blocks. For a small
    array the compiler keeps g instead, and merges the operation with its neighbours.
    The limits come from trials with XLA on two processors.

    Args:
        function: The function f.
        elements: Elements of the input.
        k: Hidden units.
    """
    if not isinstance(function, VAF):
        return False
    if elementwise(function.g).homogeneous:
        return elements <= SMALL and k <= FEW_UNITS
    return elements <= MEDIUM
