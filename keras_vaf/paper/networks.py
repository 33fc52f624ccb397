"""`cnet`, the convolutional network of the paper, and the recipe that trains it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import keras
import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe
from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.layers import MLPConv
from keras_vaf.utils import check_integer, check_sizes

KERNEL_SIZE = 5


def cnet(
    input_shape: Sequence[int],
    filters: Sequence[int],
    outputs: int,
    activation: Callable[[], keras.layers.Layer],
    output_activation: str | None = None,
    seed: int = 0,
) -> keras.Sequential:
    """Return a convolutional network, such as `cnet_A` and `cnet_B` of the paper.

    A block is a convolution of 5 x 5, an activation, max pooling of 3 x 3 with strides
    of 2, and dropout of 0.25. A dense layer follows the last block. `cnet_A` has two or
    three blocks of 192 filters, `cnet_B` two of 150. Equal seeds give equal kernels for
    every activation on every backend.

    Args:
        input_shape: Height, width and number of channels of the images.
        filters: Number of filters of each convolution, in order.
        outputs: Number of output units.
        activation: Function without arguments that returns a new layer for each block.
            An `MLPConv` takes the place of convolution and activation, as in *network
            in network* (Lin, Chen, Yan, 2013).
        output_activation: Activation of the outputs, such as `"softmax"`.
        seed: Seed of kernels and dropout.

    Raises:
        ValueError: If a number of filters or units is not a positive integer, or if
            `input_shape` does not have three axes.

    Example:

    >>> vaf = lambda: keras_vaf.layers.VAFActivation(k=5)
    >>> keras_vaf.paper.cnet((32, 32, 3), (150, 150), 10, vaf).output_shape
    (None, 10)
    """
    shape = check_sizes("input_shape", input_shape)
    filters = check_sizes("filters", filters)
    check_integer("outputs", outputs)
    if len(shape) != 3:
        raise ValueError(
            "A convolutional network takes images of (height, width, channels). "
            f"Received: input_shape={shape!r}"
        )
    model = keras.Sequential([keras.Input(shape)])
    dropouts = _seeds(seed, len(filters) + 1, len(filters))
    for place, count in enumerate(filters):
        layer = activation()
        convolution = keras.layers.Conv2D(count, KERNEL_SIZE, padding="same")
        block = isinstance(layer, MLPConv)
        inner = layer.convolutions if block else [convolution]
        for each, own in zip(inner, _seeds(seed, place, len(inner)), strict=True):
            each.kernel_initializer = PortableGlorotUniform(seed=own)
        for each in [layer] if block else [convolution, layer]:
            model.add(each)
        model.add(keras.layers.MaxPooling2D(3, strides=2))
        model.add(keras.layers.Dropout(0.25, seed=dropouts[place]))
    model.add(keras.layers.Flatten())
    last = PortableGlorotUniform(seed=_seeds(seed, -1, 1)[0])
    model.add(keras.layers.Dense(outputs, output_activation, kernel_initializer=last))
    return model


def _seeds(seed: int, place: int, count: int) -> list[int]:
    """Return seeds for a position in the network, within the range of PyTorch."""
    check_integer("seed", seed, minimum=0)
    words = np.random.SeedSequence([seed, place + 1]).generate_state(count)
    return (words >> 1).tolist()


@dataclass(frozen=True)
class ConvolutionRecipe(Recipe):
    """A recipe of `cnet`: `hidden` are the numbers of filters."""

    def network(
        self,
        dataset: Dataset,
        inputs: int,
        activation: Callable[[], keras.layers.Layer],
        seed: int,
    ) -> keras.Sequential:
        """Return the untrained network, as in `Recipe`; `inputs` has no effect."""
        shape, outputs = dataset.x.shape[1:], len(dataset.class_names or "1")
        return cnet(shape, self.hidden, outputs, activation, seed=seed)

    @property
    def width(self) -> int:
        """1, because a single convolutional network keeps a device busy."""
        return 1
