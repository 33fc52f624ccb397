"""`SharedWeights`, the axes along which each weight of an activation differs."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from keras import ops

from keras_vaf.layers.sharing import (
    AnySharing,
    Sharing,
    unshared_axes,
    unshared_sizes,
)
from keras_vaf.types import Tensor


class SharedWeights:
    """The part of `TrainableActivation` that knows which weights are shared.

    A function differs along every axis along which one of its weights differs. A weight
    that is shared along some of these axes is stored without them, and repeated along
    them when the function is computed.
    """

    name: str
    sharing: AnySharing
    data_format: str
    weight_names: tuple[str, ...]
    _unshared_axes: tuple[int, ...] = ()
    _sizes: tuple[int, ...] = ()
    # Positions, in `_unshared_axes`, of the axes of each weight that has fewer axes.
    _positions: dict[str, tuple[int, ...]]

    @property
    def function_sharing(self) -> Sharing:
        """The `sharing` of a layer with the same functions whose weights all differ.

        It equals `sharing`, unless `sharing` is a dictionary.
        """
        if not isinstance(self.sharing, dict):
            return self.sharing
        rank = self.input_spec.ndim  # type: ignore[attr-defined]
        return tuple(a for a in range(1, rank) if a not in self._unshared_axes)

    def full_weight(self, name: str, value: Any = None) -> Tensor:
        """Return a weight with one entry for each function.

        Args:
            name: Name of the weight.
            value: A tensor in place of the weight, of the same shape.

        Returns:
            A tensor whose shape begins with `unshared`.
        """
        value = getattr(self, name) if value is None else value
        if name not in self._positions:
            return value
        kept, sizes = self._positions[name], self._sizes
        extra = tuple(value.shape)[len(kept) :]
        ones = [size if i in kept else 1 for i, size in enumerate(sizes)]
        return ops.broadcast_to(ops.reshape(value, (*ones, *extra)), (*sizes, *extra))

    def own_parts(self, values: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Return the entries that the weights store, one for each function.

        This is the inverse of `full_weight`, for all weights.

        Args:
            values: An array for each weight, whose shape begins with `unshared`.
        """
        axes = range(len(self._sizes))
        parts = []
        for name, value in zip(self.weight_names, values, strict=True):
            kept = self._positions.get(name, axes)
            parts.append(value[tuple(slice(None) if i in kept else 0 for i in axes)])
        return parts

    def _set_axes(self, input_shape: tuple[int | None, ...]) -> None:
        """Set the axes and sizes along which functions and weights differ.

        Raises:
            ValueError: If an axis is invalid, or if the size of an unshared axis is
                unknown.
        """
        rank = len(input_shape)
        axes = unshared_axes(self.sharing, rank, self.data_format)
        self._unshared_axes = axes
        self._sizes = unshared_sizes(axes, input_shape, self.sharing)
        if not isinstance(self.sharing, dict):
            return
        for name in self.weight_names:
            own = unshared_axes(self.sharing[name], rank, self.data_format)
            if own != axes:
                self._positions[name] = tuple(axes.index(axis) for axis in own)
