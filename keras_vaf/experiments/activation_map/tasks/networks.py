"""Networks of the map's tasks: `make_network`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.experiments.activation_map.arm import Arm

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
        width = inputs
        for place, units in enumerate(hidden):
            kernel = _kernel(arm, place, width, 10 * seed + place)
            model.add(keras.layers.Dense(units, kernel_initializer=kernel))
            model.add(arm.build())
            width = units
        kernel = _kernel(arm, len(hidden), width, 10 * seed + len(hidden))
        model.add(keras.layers.Dense(outputs, kernel_initializer=kernel))
        return model

    return network


def _kernel(arm: Arm, place: int, width: int, seed: int) -> Any:
    """Return the start of a kernel.

    SIREN computes sin(omega (W x + b)). Here omega is a part of W: the first layer
    draws from U(-omega / n, omega / n), the others from U(-(6 / n)^.5, (6 / n)^.5).
    """
    if not arm.omega:
        return keras.initializers.GlorotUniform(seed=seed)
    limit = arm.omega / width if place == 0 else (6 / width) ** 0.5
    return keras.initializers.RandomUniform(-limit, limit, seed=seed)
