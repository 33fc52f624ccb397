"""`independent_seeds`, which returns seeds of independent random streams."""

import numpy as np


def independent_seeds(*keys: int | str, count: int = 1) -> list[int]:
    """Return seeds that differ for every sequence of keys, by NumPy's `SeedSequence`.

    Sums of seeds and keys would collide: seed 0 of fold 1 would equal seed 1 of fold 0.

    >>> independent_seeds(0, 1, "split") != independent_seeds(1, 0, "split")
    True
    """
    entropy = [
        part
        for key in keys
        for part in (key.encode() if isinstance(key, str) else [key])
    ]
    return np.random.SeedSequence(entropy).generate_state(count).tolist()
