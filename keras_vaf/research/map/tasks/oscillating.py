"""Task 3: oscillating functions of one variable."""

from __future__ import annotations

import numpy as np

from keras_vaf.research.map.arm import EVERYWHERE, FIXED, VAFS
from keras_vaf.research.map.task import Problem, Settings, Task
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.research.map.tasks.regression import sampled

FUNCTIONS = {
    "scales": lambda x: np.sin(2 * np.pi * x) + 0.5 * np.sin(16 * np.pi * x),
    "chirp": lambda x: np.sin(12 * np.pi * ((x + 1) / 2) ** 2),
    "beats": lambda x: (1 + 0.8 * np.cos(4 * np.pi * x)) * np.sin(20 * np.pi * x),
}
"""f(x) on [-1, 1]."""


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one function."""
    function = FUNCTIONS[dataset]
    network = make_network(1, (32, 32), 1)
    rows = (256, 128, 1000)
    return sampled(network, lambda x: function(x[:, 0]), 1, rows, seed=3)


TASK = Task(
    name="oscillating",
    title="Oscillating functions",
    datasets=tuple(FUNCTIONS),
    arms=(*EVERYWHERE, FIXED[-1].with_omega(10.0), VAFS[-1].with_omega(10.0)),
    settings=Settings(steps=3000),
    quick=Settings.quick(steps=100),
    make=make,
)
