"""`case_of`, the one rule that decides which calls the native kernels support."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from keras_vaf.ops.activations import name_of
from keras_vaf.ops.equation import VAF, Layout, Pointwise
from keras_vaf.ops.switches import kernels_are_off

# Number of each g in `VafFunction`, and its slope below 0 if it is made of two lines.
FUNCTIONS = {
    "relu": (0, 0.0),
    "leaky_relu": (0, 0.2),
    "tanh": (1, 0.0),
    "sigmoid": (2, 0.0),
    "silu": (3, 0.0),
    "gelu": (4, 0.0),
    "sin": (5, 0.0),
}
TYPES = {"float32": 0, "bfloat16": 1, "float16": 2}  # as in `VafType`
MOST_UNITS = 64


class Case(NamedTuple):
    """A call that the kernels support, without its tensors. Its axes are adjacent."""

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
    function: Pointwise,
    layout: Layout,
    dtypes: Sequence[str],
    shapes: Sequence[Sequence[Any]],
) -> Case | None:
    """Return the case if the kernels support it, else `None`.

    Parameters whose shapes do not fit are left to the framework, which broadcasts them
    or raises its own error. A size that is not an integer is unknown.
    """
    if kernels_are_off():
        return None
    return _case(function, layout, tuple(dtypes), tuple(map(tuple, shapes)))


@functools.lru_cache(maxsize=1024)
def _case(
    function: Pointwise,
    layout: Layout,
    dtypes: tuple[str, ...],
    shapes: tuple[tuple[Any, ...], ...],
) -> Case | None:
    if type(function) is not VAF:
        return None
    g, unshared, (x, alpha, *_) = name_of(function.g), layout.unshared, shapes
    k = alpha[-1] if alpha else 0
    first = unshared[0] if unshared else 0
    end = first + len(unshared)
    sizes = x[first:end]
    if (
        g not in FUNCTIONS
        or dtypes[0] not in TYPES
        or set(dtypes[1:]) != {"float32"}
        or not 0 < k <= MOST_UNITS
        or not 0 <= first <= end <= len(x)
        or unshared != tuple(range(first, end))
        or shapes[1:] != ((*sizes, k),) * 3 + (sizes,)
    ):
        return None
    return Case(g, dtypes[0], k, unshared)
