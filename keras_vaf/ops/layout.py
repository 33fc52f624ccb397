"""`Layout`, which aligns the axes of parameters with those of the input."""

import dataclasses
import math

from keras import ops

from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class Layout:
    """A tensor as `(before, unshared, after)`. Parameters vary along `unshared`.

    Args:
        rank: Number of axes of the input.
        unshared: Axes along which the parameters differ, ascending.
    """

    rank: int
    unshared: tuple[int, ...]

    def align(self, parameter: Tensor) -> Tensor | list[Tensor]:
        """Give a parameter of shape `(*unshared, ...)` axes that broadcast with x.

        If a parameter has one more axis, such as the axis of hidden units, return the
        list of its entries along that axis.
        """
        shape = self.aligned(parameter)
        if len(parameter.shape) == len(self.unshared):
            return ops.reshape(parameter, shape)
        units = range(parameter.shape[-1])
        return [ops.reshape(parameter[..., j], shape) for j in units]

    def merge(self, parameter: Tensor) -> Tensor:
        """Merge the unshared axes of a parameter into one, as `flatten` does for x."""
        count = len(self.unshared)
        sizes = tuple(parameter.shape)
        return ops.reshape(parameter, (math.prod(sizes[:count]), *sizes[count:]))

    def flatten(self, x: Tensor) -> Tensor:
        """Return x in the shape `(before, unshared, after)`.

        If the unshared axes are adjacent, as for layer, channel and neuron sharing,
        this reshapes without a copy. Otherwise it transposes.
        """
        if not self.unshared:
            return ops.reshape(x, (-1, 1, 1))
        first, last = self.unshared[0], self.unshared[-1]
        if self._order:
            x = ops.transpose(x, self._order)
            first, last = self.rank - len(self.unshared), self.rank - 1
        shape = ops.shape(x)
        unshared = math.prod(shape[first : last + 1])
        after = math.prod(shape[last + 1 :])
        return ops.reshape(x, (-1, unshared, after))

    def aligned(self, parameter: Tensor) -> list[int]:
        """Return the shape that `align` gives to a parameter or its entries."""
        shape = [1] * self.rank
        for axis, size in zip(self.unshared, parameter.shape, strict=False):
            shape[axis] = size
        return shape

    @property
    def _order(self) -> tuple[int, ...]:
        """Axes with the unshared ones last; empty if the unshared axes are adjacent."""
        first, last = min(self.unshared, default=0), max(self.unshared, default=-1)
        if last - first + 1 == len(self.unshared):
            return ()
        shared = [axis for axis in range(self.rank) if axis not in self.unshared]
        return (*shared, *self.unshared)


BLOCK_LAYOUT = Layout(rank=4, unshared=(1,))
"""Layout of a block: `(rows, unshared, strides, columns)`."""
