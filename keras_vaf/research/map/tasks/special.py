"""Task 4: special functions of two variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from keras_vaf.research.map.arm import EVERYWHERE
from keras_vaf.research.map.task import Problem, Settings, Task
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.research.map.tasks.regression import sampled
from keras_vaf.utils import require

Special = Callable[[np.ndarray, np.ndarray], np.ndarray]


def functions() -> dict[str, Special]:
    """Return the functions of a and b, both in [-1, 1]."""
    special = require("scipy.special", extra="experiments")
    return {
        "bessel": lambda a, b: special.jv(2 * (a + 1), 10 * (b + 1)),
        "legendre": lambda a, b: special.eval_legendre(4 * (a + 1), b),
        "elliptic": lambda a, b: special.ellipkinc(np.pi * a, 0.95 * (b + 1) / 2),
        "harmonic": lambda a, b: _harmonic(special, a, b),
    }


def _harmonic(special: object, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the real part of the spherical harmonic of order 3 and degree 5."""
    legendre = special.lpmv(3, 5, np.cos(np.pi * (b + 1) / 2))  # type: ignore[attr-defined]
    return legendre * np.cos(3 * np.pi * a)


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one function."""
    function = functions()[dataset]
    network = make_network(2, (32, 32), 1)
    rows = (1000, 500, 2000)
    return sampled(network, lambda x: function(x[:, 0], x[:, 1]), 2, rows, seed=4)


TASK = Task(
    name="special",
    title="Special functions of two variables",
    datasets=("bessel", "legendre", "elliptic", "harmonic"),
    arms=EVERYWHERE,
    settings=Settings(steps=3000, batch=256),
    quick=Settings.quick(steps=100, batch=256),
    make=make,
)
