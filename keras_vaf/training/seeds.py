"""`independent_seeds` for independent random streams, and `seeded` for global ones."""

import contextlib
import random
import threading
from collections.abc import Iterator

import keras
import numpy as np


def independent_seeds(*keys: int | str, count: int = 1) -> list[int]:
    """Return seeds that differ for every sequence of keys.

    Sums of seeds and keys would collide: seed 0 of fold 1 would equal seed 1 of fold 0.
    These seeds do not collide, because NumPy's `SeedSequence` mixes all keys.

    Args:
        *keys: Seeds, fold numbers and purposes, such as `(seed, fold, "split")`.
        count: Number of seeds.

    Example:

    >>> independent_seeds(0, 1, "split") != independent_seeds(1, 0, "split")
    True
    """
    entropy = [
        part
        for key in keys
        for part in (key.encode() if isinstance(key, str) else [key])
    ]
    return np.random.SeedSequence(entropy).generate_state(count).tolist()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, and keep other threads away from those of Keras.

    Keras draws the seeds of initializers with `random.randint`. The event loop of a
    Dask worker draws from the same generator, in another thread and at any moment. In
    this context, the thread that entered it draws from a generator of its own.

    Args:
        seed: The seed, as in `keras.utils.set_random_seed`.
    """
    keras.utils.set_random_seed(seed)
    own, thread, shared = random.Random(seed), threading.get_ident(), random.randint

    def randint(a: int, b: int) -> int:
        draw = own.randint if threading.get_ident() == thread else shared
        return draw(a, b)

    random.randint = randint
    try:
        yield
    finally:
        random.randint = shared
