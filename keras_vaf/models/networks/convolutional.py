"""`cnet` and `nin`, the convolutional networks of the paper."""

from collections.abc import Callable, Sequence

import keras
import numpy as np

from keras_vaf import initializers
from keras_vaf.layers import MLPConv
from keras_vaf.utils import check_integer, check_sizes

Blocks = list[list[keras.layers.Layer]]


def cnet(
    input_shape: Sequence[int],
    filters: Sequence[int],
    outputs: int,
    activation: Callable[[], keras.layers.Layer],
    output_activation: str | None = None,
    seed: int = 0,
    pieces: int = 1,
    kernel_size: int = 5,
    padding: str = "same",
    pool_size: int = 3,
    pool_strides: int = 2,
    dropout: float = 0.25,
    kernel_initializer: str = "PortableGlorotUniform",
) -> keras.Sequential:
    """Return a convolutional network, such as `cnet_A` and `cnet_B` of the paper.

    Each block consists of a convolution, an activation, max pooling and dropout. A
    dense layer follows the last block. `cnet_A` has two or three blocks of 192 filters,
    `cnet_B` two blocks of 150. Equal seeds give equal kernels for every activation and,
    with the initializer of this package, on every backend. Biases start at 0.

    Args:
        input_shape: Height, width and number of channels of the images.
        filters: Number of filters of each convolution, in order.
        outputs: Number of output units.
        activation: Function without arguments that returns a new layer. It is called
            once per convolution.
        output_activation: Activation of the outputs, such as `"softmax"`.
        seed: Seed of kernels and dropout.
        pieces: Number of filters per channel after the activation: k of `Maxout`, else
            1.
        kernel_size: Height and width of the filters.
        padding: `"same"` or `"valid"`.
        pool_size: Height and width of the pooling windows.
        pool_strides: Strides of the pooling windows.
        dropout: Share of the values that dropout sets to 0.
        kernel_initializer: Name of a class in `keras_vaf.initializers` or, failing
            that, in `keras.initializers`. Its constructor must take a seed.

    Returns:
        The network, built but not compiled.

    Raises:
        ValueError: If a number of filters or units is not a positive integer, or if
            `input_shape` does not have three axes.

    Example:

    >>> vaf = lambda: keras_vaf.layers.VAFActivation(k=5)
    >>> cnet((32, 32, 3), filters=(150, 150), outputs=10, activation=vaf).output_shape
    (None, 10)
    """
    input_shape, filters, outputs = _sizes(input_shape, filters, outputs)
    blocks: Blocks = []
    for place, count in enumerate(filters):
        [kernel_seed] = _seeds(seed, place, 1)
        convolution = keras.layers.Conv2D(
            pieces * count,
            kernel_size,
            padding=padding,
            kernel_initializer=_initializer(kernel_initializer, kernel_seed),
        )
        blocks.append([convolution, activation()])
    last = _output_layer(outputs, output_activation, kernel_initializer, seed)
    return _network(input_shape, blocks, last, pool_size, pool_strides, dropout, seed)


def nin(
    input_shape: Sequence[int],
    filters: Sequence[int],
    outputs: int,
    output_activation: str | None = None,
    seed: int = 0,
    depth: int = 3,
    kernel_size: int = 5,
    padding: str = "same",
    pool_size: int = 3,
    pool_strides: int = 2,
    dropout: float = 0.25,
    kernel_initializer: str = "PortableGlorotUniform",
) -> keras.Sequential:
    """Return `cnet` with an `MLPConv` in place of each convolution and activation.

    Args:
        input_shape: As in `cnet`.
        filters: As in `cnet`. All convolutions of a block have the same number.
        outputs: As in `cnet`.
        output_activation: As in `cnet`.
        seed: As in `cnet`.
        depth: Number of convolutions per block. All except the first have size 1 x 1.
        kernel_size: As in `cnet`.
        padding: As in `cnet`.
        pool_size: As in `cnet`.
        pool_strides: As in `cnet`.
        dropout: As in `cnet`.
        kernel_initializer: As in `cnet`.

    Returns:
        The network, built but not compiled.

    Raises:
        ValueError: As in `cnet`.

    Reference:
        [Lin, Chen, Yan, *Network in network*, 2013](https://arxiv.org/abs/1312.4400)

    Example:

    >>> nin((28, 28, 1), filters=(20, 20), outputs=10).count_params()
    19430
    """
    input_shape, filters, outputs = _sizes(input_shape, filters, outputs)
    check_integer("depth", depth)
    blocks: Blocks = []
    for place, count in enumerate(filters):
        block = MLPConv(
            (count,) * check_integer("depth", depth), kernel_size, padding=padding
        )
        pairs = zip(block.convolutions, _seeds(seed, place, depth), strict=True)
        for convolution, each in pairs:
            convolution.kernel_initializer = _initializer(kernel_initializer, each)
        blocks.append([block])
    last = _output_layer(outputs, output_activation, kernel_initializer, seed)
    return _network(input_shape, blocks, last, pool_size, pool_strides, dropout, seed)


def _network(
    input_shape: Sequence[int],
    blocks: Blocks,
    last: keras.layers.Layer,
    pool_size: int,
    pool_strides: int,
    dropout: float,
    seed: int,
) -> keras.Sequential:
    """Return the blocks, each with pooling and dropout, and then the output layer."""
    model = keras.Sequential([keras.Input(tuple(input_shape))])
    dropout_seeds = _seeds(seed, len(blocks) + 1, len(blocks))
    for block, dropout_seed in zip(blocks, dropout_seeds, strict=True):
        for layer in block:
            model.add(layer)
        model.add(keras.layers.MaxPooling2D(pool_size, pool_strides))
        model.add(keras.layers.Dropout(dropout, seed=dropout_seed))
    model.add(keras.layers.Flatten())
    model.add(last)
    return model


def _output_layer(
    outputs: int, activation: str | None, initializer: str, seed: int
) -> keras.layers.Dense:
    [kernel_seed] = _seeds(seed, -1, 1)
    return keras.layers.Dense(
        outputs, activation, kernel_initializer=_initializer(initializer, kernel_seed)
    )


def _initializer(name: str, seed: int) -> keras.initializers.Initializer:
    scope = initializers if hasattr(initializers, name) else keras.initializers
    return getattr(scope, name)(seed=seed)


def _seeds(seed: int, place: int, count: int) -> list[int]:
    """Return seeds for a position in the network, within the range of PyTorch."""
    check_integer("seed", seed, minimum=0)
    words = np.random.SeedSequence([seed, place + 1]).generate_state(count)
    return (words >> 1).tolist()


def _sizes(
    input_shape: Sequence[int], filters: Sequence[int], outputs: int
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Check the sizes of a network."""
    shape = check_sizes("input_shape", input_shape)
    if len(shape) != 3:
        raise ValueError(
            "A convolutional network takes images of (height, width, channels). "
            f"Received: input_shape={shape!r}"
        )
    return shape, check_sizes("filters", filters), check_integer("outputs", outputs)
