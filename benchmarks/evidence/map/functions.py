"""`draw` and the arms of O1 and O2, sines on random functions with native kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.evidence.map.study import ARMS as NAMED
from benchmarks.evidence.map.study import MapStudy, Place, fixed
from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.task import Problem, Settings
from keras_vaf.research.map.tasks import oscillating
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.research.map.tasks.regression import sampled

KINDS = ("waves", "chirp", "beats", "triangles")
DRAWS = 5
NAMES = tuple(f"{kind}-{each}" for kind in KINDS for each in range(DRAWS))
OMEGAS = (5.0, 10.0, 20.0)
FACTORS = (0.5, 1.0, 2.0)
SEEDS = tuple(range(300, 305))


def draw(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a random function on [-1, 1].

    Frequencies are in periods per unit of x, and the 256 training points are at least
    eight in a period on average.

    Args:
        name: A kind and the number of its draw.
    """
    kind, _, number = name.partition("-")
    draws = np.random.default_rng([45, KINDS.index(kind), int(number)])
    turn = 2 * np.pi
    one, two, three = draws.uniform(0, turn, 3)
    if kind == "waves":
        frequencies = np.exp(draws.uniform(0, np.log(12), (3, 1)))
        sizes = draws.uniform(0.3, 1, 3)
        shifts = np.array([[one], [two], [three]])
        return lambda x: sizes @ np.sin(turn * frequencies * x + shifts)
    fast = draws.uniform(5, 12)
    if kind == "chirp":
        return lambda x: np.sin(turn * fast * ((x + 1) / 2) ** 2 + one)
    slow, size = draws.uniform(1, 4), draws.uniform(0.5, 1)
    if kind == "beats":
        return lambda x: (
            (1 + size * np.cos(turn * slow * x + one)) * np.sin(turn * fast * x + two)
        )
    return lambda x: np.arcsin(np.sin(turn * slow * x + one))


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one function, with the sizes of the map."""
    function = draw(dataset)
    network = make_network(1, (32, 32), 1)
    rows = (256, 128, 1000)
    return sampled(network, lambda x: function(x[:, 0]), 1, rows, NAMES.index(dataset))


TASK = replace(oscillating.TASK, datasets=NAMES, make=make)


def _arm(name: str, omega: float, factor: float = 1.0) -> Arm:
    arm = NAMED[name] if factor == 1 else fixed(f"{name}-{factor:g}", factor)
    return replace(arm.with_omega(omega), name=f"{arm.name}@{omega:g}")


def _arms(omegas: Sequence[float]) -> dict[str, Arm]:
    sines = (_arm("sin", *pair) for pair in itertools.product(omegas, FACTORS))
    vafs = (_arm(*pair) for pair in itertools.product(("vaf-1", "vaf-3"), omegas))
    return {each.name: each for each in (*sines, *vafs)}


ARMS = _arms(OMEGAS)
"""Sines with a tuned start and a tuned factor, and VAFs with a tuned start."""

WIDER = _arms((40.0,))
"""The same with a larger start, which is exploratory."""


def random_functions(arms: Mapping[str, Arm]) -> MapStudy:
    """Return a study of the random functions.

    Args:
        arms: `ARMS` for O1 and O2, or `WIDER`.
    """
    return MapStudy("time", tuple(Place(TASK, each) for each in NAMES), arms, SEEDS)
