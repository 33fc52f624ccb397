"""`mlp`, the fully connected network of the paper."""

from collections.abc import Callable, Sequence

import keras
import numpy as np

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.utils import MOST_UNITS, check_integer, check_sizes


def mlp(
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    activation: Callable[[], keras.layers.Layer],
    output_activation: str | None = None,
    seed: int = 0,
) -> keras.Sequential:
    """Return a fully connected network with an activation after each hidden layer.

    Kernels are Glorot uniform, and equal for equal seeds on every backend.

    Args:
        inputs: Number of input variables.
        hidden: Widths of the hidden layers, in order.
        outputs: Number of output units.
        activation: Class, or function without arguments, that makes a new layer.
        output_activation: Activation of the outputs, such as `"softmax"`.
        seed: Seed of the kernels.

    Returns:
        The network, built but not compiled.

    Raises:
        ValueError: If a width is not a positive integer.

    Example:

    >>> model = mlp(13, hidden=(100, 50), outputs=3, activation=keras.layers.ReLU)
    >>> model.count_params()
    6603
    """
    widths = check_sizes("hidden", hidden, MOST_UNITS)
    inputs, outputs = check_integer("inputs", inputs), check_integer("outputs", outputs)
    check_integer("seed", seed, minimum=0)
    drawn = np.random.SeedSequence(seed).generate_state(len(widths) + 1)
    kernels = [PortableGlorotUniform(seed=each) for each in drawn.tolist()]
    model = keras.Sequential([keras.Input((inputs,))])
    for width, kernel in zip(widths, kernels, strict=False):
        model.add(keras.layers.Dense(width, kernel_initializer=kernel))
        model.add(activation())
    model.add(
        keras.layers.Dense(outputs, output_activation, kernel_initializer=kernels[-1])
    )
    return model
