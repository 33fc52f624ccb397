"""`generator`, which returns NumPy random generators, equal on every backend."""

import random

import numpy as np

from keras_vaf.utils import check_integer


def generator(seed: int | None) -> np.random.Generator:
    """Return a generator; for `None` a seed follows `keras.utils.set_random_seed`."""
    if seed is None:
        return np.random.default_rng(random.getrandbits(32))
    return np.random.default_rng(check_integer("seed", seed, minimum=0))
