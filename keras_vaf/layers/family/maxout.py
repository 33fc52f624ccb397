"""`Maxout`, the largest of several linear functions."""

from typing import Any

import keras
from keras import ops

from keras_vaf.layers.sharing import unshared_axes, validate_data_format
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class Maxout(keras.layers.Layer):
    """Maxout: the largest value of each group of k neighbouring channels.

    Formula:

    ```
    h_i(x) = max_{j=1..k} z_ij,    z_ij = x . W_ij + b_ij
    ```

    The k linear functions of each unit belong to the dense layer or convolution before
    this layer, which has k times as many units or filters. `Maxout` has no weights. It
    is not an element-wise function.

    Args:
        k: Number of linear functions per unit.
        data_format: `"channels_last"` or `"channels_first"`: position of the channel
            axis for inputs of rank 3 or more. `None` means
            `keras.config.image_data_format()`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Input shape:
        Any shape of rank 2 or more whose number of channels is a multiple of k.

    Output shape:
        The shape of the input, with the number of channels divided by k.

    Raises:
        ValueError: If an argument is invalid, or if the number of channels is unknown
            or not a multiple of k.

    Reference:
        [Goodfellow et al., *Maxout networks*, 2013](https://arxiv.org/abs/1302.4389),
        section 3.

    Example:

    >>> model = keras.Sequential(
    ...     [keras.Input((20,)), keras.layers.Dense(16 * 3), Maxout(k=3)]
    ... )
    >>> model.output_shape
    (None, 16)
    """

    def __init__(
        self, k: int = 2, data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(min_ndim=2)
        self.k = check_integer("k", k)
        self.data_format = validate_data_format(data_format)

    def call(self, inputs: Tensor) -> Tensor:
        axis, channels = self._channels(inputs.shape)
        shape = ops.shape(inputs)
        before, units, after = shape[:axis], channels // self.k, shape[axis + 1 :]
        if 0 in tuple(inputs.shape):  # Keras raises for the maximum of an empty tensor
            return ops.reshape(inputs, (*before, units, *after))
        grouped = (*before, units, self.k, *after)
        return ops.max(ops.reshape(inputs, grouped), axis=axis + 1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        axis, channels = self._channels(input_shape)
        units = channels // self.k
        return (*input_shape[:axis], units, *input_shape[axis + 1 :])

    def _channels(self, input_shape: Any) -> tuple[int, int]:
        """Return the axis of the channels, and their number."""
        (axis,) = unshared_axes("channel", len(input_shape), self.data_format)
        channels = input_shape[axis]
        if channels is None or channels % self.k:
            raise ValueError(
                f"The number of channels must be known and a multiple of k={self.k}. "
                "Give the previous layer k times as many units or filters. "
                f"Received: {channels} channels"
            )
        return axis, channels

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {"k": self.k, "data_format": self.data_format}
