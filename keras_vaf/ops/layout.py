"""`Layout`, which aligns the axes of parameters with those of the input."""

import dataclasses

from keras import ops

from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class Layout:
    """The axes of an input. Parameters vary along some of them.

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

    def aligned(self, parameter: Tensor) -> list[int]:
        """Return the shape that `align` gives to a parameter or its entries."""
        shape = [1] * self.rank
        for axis, size in zip(self.unshared, parameter.shape, strict=False):
            shape[axis] = size
        return shape
