"""Random numbers that are the same on every backend."""

import random

import numpy as np

from keras_vaf.utils import check_integer


def generator(seed: int | None) -> np.random.Generator:
    """Return a generator of NumPy for a seed.

    Args:
        seed: Non-negative integer. `None` draws one, which follows
            `keras.utils.set_random_seed`.

    Raises:
        ValueError: If the seed is neither.
    """
    if seed is None:
        return np.random.default_rng(random.getrandbits(32))
    return np.random.default_rng(check_integer("seed", seed, minimum=0))
