"""`MLPConv`, the convolution of "network in network"."""

from collections.abc import Sequence
from typing import Any

import keras

from keras_vaf.layers.sharing import validate_data_format
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class MLPConv(keras.layers.Layer):
    """Convolution whose filters are small networks: "network in network".

    Formula:

    ```
    h_1 = relu(W_1 . x + b_1)
    h_i = relu(W_i . h_j + b_i),    j = i - 1
    ```

    Here x is a patch of the image, and W and b are the weights of the convolutions. The
    first convolution is followed by convolutions of size 1 x 1, which combine all
    channels at one position. ReLU follows each convolution. The layer is not an
    element-wise function.

    Args:
        filters: Number of filters of each convolution: the first one, then those of
            size 1 x 1.
        kernel_size: Size of the first convolution.
        strides: Strides of the first convolution.
        padding: `"valid"` or `"same"`.
        data_format: `"channels_last"` or `"channels_first"`. `None` means
            `keras.config.image_data_format()`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Input shape:
        `(batch, height, width, channels)`, or `(batch, channels, height, width)` if
        `data_format="channels_first"`.

    Output shape:
        That of `keras.layers.Conv2D` with `filters[-1]` filters.

    Raises:
        ValueError: If `filters` is not a tuple of positive integers, or if
            `keras.layers.Conv2D` does not accept another argument.

    Reference:
        [Lin, Chen, Yan, *Network in network*, 2013](https://arxiv.org/abs/1312.4400),
        section 3.1 and equation 2.

    Example:

    >>> layer = MLPConv(filters=(192, 160, 96), kernel_size=5, padding="same")
    >>> layer.compute_output_shape((None, 32, 32, 3))
    (None, 32, 32, 96)
    """

    def __init__(
        self,
        filters: Sequence[int],
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(filters, tuple | list) or not filters:
            raise ValueError(
                "`filters` must be a tuple of integers, such as (192, 160, 96). "
                f"Received: filters={filters!r}"
            )
        self.filters = tuple(check_integer("filters", f) for f in filters)
        self.kernel_size = kernel_size
        self.strides = strides
        self.padding = padding
        self.data_format = validate_data_format(data_format)
        common = {"data_format": self.data_format, "dtype": self.dtype_policy}
        self.convolutions = [
            keras.layers.Conv2D(
                count,
                1 if i else kernel_size,
                1 if i else strides,
                padding,
                activation="relu",
                **common,
            )
            for i, count in enumerate(self.filters)
        ]

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        for convolution in self.convolutions:
            convolution.build(input_shape)
            input_shape = convolution.compute_output_shape(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        for convolution in self.convolutions:
            inputs = convolution(inputs)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        for convolution in self.convolutions:
            input_shape = convolution.compute_output_shape(input_shape)
        return input_shape

    def get_config(self) -> dict[str, Any]:
        names = ("filters", "kernel_size", "strides", "padding", "data_format")
        return super().get_config() | {name: getattr(self, name) for name in names}
