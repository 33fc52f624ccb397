"""Networks of the map's tasks: `make_network`."""

from __future__ import annotations

from collections.abc import Callable

import keras

from keras_vaf.experiments.activation_map.arm import Arm
from keras_vaf.initializers import PortableGlorotUniform, SirenKernel

Network = Callable[[Arm, int], keras.Model]


def make_network(inputs: int, hidden: tuple[int, ...], outputs: int) -> Network:
    """Return the function that makes a fully connected network with an arm.

    Args:
        inputs: Number of inputs.
        hidden: Widths of the hidden layers.
        outputs: Number of outputs.
    """

    def network(arm: Arm, seed: int) -> keras.Model:
        model = keras.Sequential([keras.Input((inputs,))])
        for place, units in enumerate(hidden):
            kernel = _kernel(arm, place, 10 * seed + place)
            model.add(keras.layers.Dense(units, kernel_initializer=kernel))
            model.add(arm.build())
        kernel = _kernel(arm, len(hidden), 10 * seed + len(hidden))
        model.add(keras.layers.Dense(outputs, kernel_initializer=kernel))
        return model

    return network


def _kernel(arm: Arm, place: int, seed: int) -> keras.initializers.Initializer:
    if not arm.omega:
        return PortableGlorotUniform(seed=seed)
    return SirenKernel(arm.omega if place == 0 else 0.0, seed)
