"""`independent_seeds` for independent random streams, and `seeded` for global ones."""

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

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


_DRAWING = tuple(
    name
    for name in random.__all__
    if isinstance(getattr(getattr(random, name), "__self__", None), random.Random)
)
"""Names of the functions that use Python's global generator."""


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, and keep other threads away from Python's.

    Keras draws the seeds of initializers with `random.randint`. The event loop of a
    Dask worker draws from the same generator, in another thread and at any moment. In
    this context, the thread that entered it draws from a separate generator.

    Args:
        seed: The seed, as in `keras.utils.set_random_seed`.
    """
    keras.utils.set_random_seed(seed)
    own, thread = random.Random(seed), threading.get_ident()
    shared = {name: getattr(random, name) for name in _DRAWING}

    def divided(name: str) -> Callable[..., Any]:
        def draw(*arguments: Any, **named: Any) -> Any:
            inside = threading.get_ident() == thread
            function = getattr(own, name) if inside else shared[name]
            return function(*arguments, **named)

        return draw

    try:
        for name in shared:
            setattr(random, name, divided(name))
        yield
    finally:
        for name, function in shared.items():
            setattr(random, name, function)
