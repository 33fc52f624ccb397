"""`sample_inputs`, which returns random inputs for a model."""

from typing import Any

import keras
import numpy as np


def sample_inputs(model: keras.Model) -> Any:
    """Return four random input samples for a model.

    Axes of unknown size get 32 entries for images and volumes, and 8 otherwise.

    Args:
        model: A built Sequential or Functional model.
    """
    random = np.random.default_rng(0)

    def sample(entry: Any) -> np.ndarray:
        unknown = 32 if len(entry.shape) > 3 else 8
        shape = (4, *(size or unknown for size in entry.shape[1:]))
        if keras.backend.is_float_dtype(entry.dtype):
            return random.normal(size=shape).astype("float32")
        return np.zeros(shape, entry.dtype)

    # A Sequential model has no `input` before its first call.
    entries = model.inputs[0] if isinstance(model, keras.Sequential) else model.input
    return keras.tree.map_structure(sample, entries)
