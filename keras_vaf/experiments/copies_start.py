"""`CopiesStart`, a naive start of a VAF, as a control in experiments."""

from collections.abc import Sequence

import keras
import numpy as np

from keras_vaf.initializers import Start
from keras_vaf.ops.functions import Function


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
class CopiesStart(Start):
    """Start at g with k equal hidden units, each with 1/k of the output.

    Equal hidden units receive equal gradients and stay equal, so that the VAF learns as
    if k were 1. Use this start only as a control in experiments.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(k=4, initialization=CopiesStart())
    >>> layer.function(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    def __call__(
        self, unshared: Sequence[int], k: int, g: Function
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the start values of every function of a layer (see `Start`)."""
        units = (*unshared, k)
        return (
            np.ones(units),
            np.zeros(units),
            np.full(units, 1 / k),
            np.zeros(tuple(unshared)),
        )


COPIES_START = {"class_name": "keras_vaf.experiments>CopiesStart", "config": {}}
"""The registered name of `CopiesStart`, for a `Variant`. It never changes."""
