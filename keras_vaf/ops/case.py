"""`case_of`, the one rule that decides which calls kernels take, on each device."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from keras_vaf.ops.activations import IN_KERNELS, name_of
from keras_vaf.ops.equation import VAF, Layout, Pointwise
from keras_vaf.ops.switches import kernels_are_off

TYPES = {"float32": 0, "bfloat16": 1, "float16": 2}  # as in `VafType`
MOST_UNITS = 64


class Case(NamedTuple):
    """A call that the kernels take, without its tensors. Its axes are adjacent."""

    g: str
    dtype: str
    k: int
    unshared: tuple[int, ...]

    def sizes(self, shape: Sequence[int]) -> tuple[int, int, int]:
        """Return the numbers of elements before, along and behind the unshared axes."""
        first = self.unshared[0] if self.unshared else len(shape)
        end = first + len(self.unshared)
        parts = shape[:first], shape[first:end], shape[end:]
        outer, units, inner = map(math.prod, parts)
        return outer, units, inner


def case_of(
    g: Any,
    dtype: str,
    shape: Sequence[Any],
    unshared: Sequence[int],
    k: int,
    sizes: Sequence[int],
) -> Case | None:
    """Return the case if the kernels take the call, else `None`.

    Args:
        g: Name of a function. Others are not taken.
        dtype: Data type of x. That of the parameters is float32.
        shape: Sizes of x. One that is not an integer is unknown.
        unshared: Axes of x along which functions differ.
        k: Number of hidden units.
        sizes: Sizes along these axes, as the parameters have them.
    """
    first = unshared[0] if unshared else 0
    end = first + len(unshared)
    if (
        kernels_are_off()
        or g not in IN_KERNELS
        or dtype not in TYPES
        or not 0 < k <= MOST_UNITS
        or not 0 <= first <= end <= len(shape)
        or tuple(unshared) != tuple(range(first, end))
        or tuple(shape[first:end]) != tuple(sizes)
    ):
        return None
    return Case(g, dtype, k, tuple(unshared))


def case_of_layer(
    function: Pointwise,
    layout: Layout,
    dtypes: Sequence[str],
    shapes: Sequence[Sequence[Any]],
) -> Case | None:
    """Return the case of x and four parameters, on JAX and TensorFlow.

    Parameters whose shapes do not fit are left to the framework, which broadcasts them
    or raises its own error.
    """
    if type(function) is not VAF or set(dtypes[1:]) != {"float32"}:
        return None
    x, *units, sizes = map(tuple, shapes)
    k = units[0][-1] if units[0] else 0
    if units != [(*sizes, k)] * 3:
        return None
    return case_of(name_of(function.g), dtypes[0], x, layout.unshared, k, sizes)
