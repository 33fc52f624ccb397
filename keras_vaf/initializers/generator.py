"""Random numbers that are the same on every backend."""

import random

import numpy as np


def generator(seed: int | None) -> np.random.Generator:
    """Generator of NumPy's, by a seed or, without one, by Keras's global seed.

    Args:
        seed: Integer. `None` draws one, which follows `keras.utils.set_random_seed`.

    Raises:
        ValueError: If the seed is neither.
    """
    if seed is None:
        return np.random.default_rng(random.getrandbits(32))
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ValueError(f"`seed` must be an integer or None. Received: seed={seed!r}")
    return np.random.default_rng(seed % 2**64)
