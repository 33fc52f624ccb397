"""`LearnedFunction`, the function that a trainable activation computes."""

import dataclasses
from typing import Any

import keras
import numpy as np

from keras_vaf.ops import Pointwise
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.functions import evaluate
from keras_vaf.types import Tensor


class LearnedFunction:
    """The part of `TrainableActivation` that tells which function a layer computes."""

    autocast: bool
    name: str
    weight_names: tuple[str, ...]
    equation_class: type[Pointwise]
    equation_fields: tuple[str, ...] = ()
    _unshared_axes: tuple[int, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Call the layer, which keeps half precision under `torch.autocast`.

        PyTorch's own activations do so. Keras would cast such an input to the compute
        dtype of the layer, float32, which the gradient would then keep.
        """
        layer: Any = super()
        if not args or not _is_half(args[0]):
            return layer.__call__(*args, **kwargs)
        before, self.autocast = self.autocast, False
        try:
            return layer.__call__(*args, **kwargs)
        finally:
            self.autocast = before

    @property
    def equation(self) -> Pointwise:
        """The function, configured by the layer's arguments."""
        return self.equation_class(
            *[getattr(self, name) for name in self.equation_fields]
        )

    def value(self, x: Tensor, *parameters: Any, **named: Any) -> Tensor:
        """Return f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")

    def function(self, x: Any) -> np.ndarray:
        """Return values of the learned function as a NumPy array.

        Args:
            x: Number or array of any shape.

        Returns:
            f(x) of all functions, as a float64 array of shape `(*x.shape, *unshared)`.

        Raises:
            ValueError: If the layer has no weights yet.

        Example:

        >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
        >>> print(layer.function([-1, 0, 2]))
        [0. 0. 2.]
        """
        if not hasattr(self, self.weight_names[0]):
            raise ValueError(
                f"The layer {self.name!r} has no weights yet; build it, or call it on "
                "an input, first."
            )
        weights = [
            keras.ops.convert_to_numpy(getattr(self, n)) for n in self.weight_names
        ]
        x = np.asarray(x, "float64")
        count = len(self._unshared_axes)
        rank = x.ndim + count
        layout = Layout(rank, tuple(range(x.ndim, rank)))

        def value(x: Tensor, *weights: Tensor) -> Tensor:
            return self.equation.value(x, *map(layout.align, weights))

        y = evaluate(value, x.reshape((*x.shape, *[1] * count)), *weights)
        return np.broadcast_to(y, (*x.shape, *weights[-1].shape[:count])).copy()


def _is_half(x: Any) -> bool:
    """Return whether a tensor of PyTorch is in half precision under autocast."""
    if keras.backend.backend() != "torch":
        return False
    import torch

    half = isinstance(x, torch.Tensor) and x.dtype in (torch.bfloat16, torch.float16)
    return half and torch.is_autocast_enabled(x.device.type)


def equation_of(kind: type[LearnedFunction]) -> type[Pointwise]:
    """Return the equation of a class, so that layers share their compiled programs."""
    return dataclasses.make_dataclass(
        kind.__name__,
        kind.equation_fields,
        bases=(Pointwise,),
        namespace={"value": kind.value},
        frozen=True,
    )
