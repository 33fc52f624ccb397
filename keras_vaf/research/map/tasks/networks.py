"""`make_network`, which builds the fully connected networks of the map."""

from __future__ import annotations

from collections.abc import Callable

import keras
import numpy as np

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.research.map.arm import Arm

Network = Callable[[Arm, int], keras.Model]


def make_network(inputs: int, hidden: tuple[int, ...], outputs: int) -> Network:
    """Return a function that builds a fully connected network with an arm.

    Args:
        inputs: Number of inputs.
        hidden: Widths of the hidden layers.
        outputs: Number of outputs.
    """

    def network(arm: Arm, seed: int) -> keras.Model:
        model = keras.Sequential([keras.Input((inputs,))])
        sizes = (inputs, *hidden)
        for place, units in enumerate(hidden):
            first = {} if place else arm.first
            seeded = {"seed": 10 * seed + place} if arm.seeded else {}
            model.add(_dense(arm, place, sizes[place], units, 10 * seed + place))
            if arm.omega:
                model.add(keras.layers.Rescaling(arm.omega))
            model.add(arm.build(**first, **seeded))
        place = len(hidden)
        model.add(_dense(arm, place, sizes[-1], outputs, 10 * seed + place))
        return model

    return network


def _dense(
    arm: Arm, place: int, inputs: int, units: int, seed: int
) -> keras.layers.Dense:
    """Return a dense layer with the initialization of the arm."""
    if arm.kernels == "glorot":
        kernel = PortableGlorotUniform(seed=seed)
        return keras.layers.Dense(units, kernel_initializer=kernel)
    limit = inputs**-0.5
    generator = np.random.default_rng([seed, 1])
    biases = generator.uniform(-limit, limit, units)
    if arm.kernels == "siren":
        limit = 1 / inputs if place == 0 else (6 / inputs) ** 0.5 / arm.omega
    kernels = generator.uniform(-limit, limit, (inputs, units))
    layer = keras.layers.Dense(units)
    layer.build((None, inputs))
    layer.set_weights([kernels.astype("float32"), biases.astype("float32")])
    return layer
