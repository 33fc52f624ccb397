"""`case_of`, the one rule that decides which calls the native kernels support."""

import dataclasses
import math
from collections.abc import Iterable, Sequence

from keras_vaf.ops.activations import name_of
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import library
from keras_vaf.ops.native.switch import is_plain
from keras_vaf.ops.vaf import VAF

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


@dataclasses.dataclass(frozen=True)
class Case:
    """A call that the kernels support, described without its tensors.

    Args:
        g: Name of g, one of `FUNCTIONS`.
        dtype: Dtype of x, one of `TYPES`.
        k: Number of hidden units.
        unshared: Axes of x along which the parameters differ. They are adjacent.
    """

    g: str
    dtype: str
    k: int
    unshared: tuple[int, ...]

    @property
    def function(self) -> int:
        """Number of g in the library."""
        return FUNCTIONS[self.g][0]

    @property
    def slope(self) -> float:
        """Slope of g below 0, if g consists of two lines."""
        return FUNCTIONS[self.g][1]

    def sizes(self, shape: Sequence[int]) -> tuple[int, int, int]:
        """Return the numbers of elements before, along and behind the unshared axes."""
        if not self.unshared:
            return math.prod(shape), 1, 1
        first, end = self.unshared[0], self.unshared[-1] + 1
        return (
            math.prod(shape[:first]),
            math.prod(shape[first:end]),
            math.prod(shape[end:]),
        )


def case_of(
    function: Pointwise,
    layout: Layout,
    dtype: str,
    weight_dtypes: Iterable[str],
    alpha: Sequence[int],
) -> Case | None:
    """Return the case if the kernels support it, else `None`.

    The bindings of each framework also check what only they know, such as the device.

    Args:
        function: The function f.
        layout: Axes of the input.
        dtype: Dtype of the input.
        weight_dtypes: Dtypes of the parameters.
        alpha: Shape of alpha.
    """
    if type(function) is not VAF or is_plain():
        return None
    k = alpha[-1]
    g = name_of(function.g)
    unshared = layout.unshared
    if (
        g not in FUNCTIONS
        or dtype not in TYPES
        or set(weight_dtypes) != {"float32"}
        or not 0 < k <= MOST_UNITS
        or (unshared and unshared[-1] - unshared[0] + 1 != len(unshared))
        or library.find().library is None
    ):
        return None
    return Case(g, dtype, k, unshared)
