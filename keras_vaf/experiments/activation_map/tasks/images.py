"""Task 6: images as functions of the place."""

from __future__ import annotations

import keras
import numpy as np
from keras import ops

from keras_vaf.experiments.activation_map.arm import EVERYWHERE, FIXED, VAFS, Arm
from keras_vaf.experiments.activation_map.task import Problem, Settings, Task
from keras_vaf.experiments.activation_map.tasks.networks import make_network
from keras_vaf.experiments.activation_map.tasks.regression import regression
from keras_vaf.types import Tensor
from keras_vaf.utils import require

OMEGA = 30.0
SIZE = 64


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
def finer(x: Tensor) -> Tensor:
    """Return sin((|x| + 1) x), the function of FINER (Liu et al., 2024)."""
    return ops.sin((ops.abs(x) + 1) * x)


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
class Staf(keras.layers.Layer):
    """sum_j c_j sin(w_j x + p_j), with the random start of STAF.

    Reference:
        Morsali et al., *STAF: sinusoidal trainable activation functions for implicit
        neural representation*, 2026: w is uniform, p is uniform, and the size of c is
        exponentially distributed.

    Args:
        count: Number of sines.
        seed: Seed of the start.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

    def __init__(self, count: int = 5, seed: int = 0, **kwargs: object) -> None:
        super().__init__(**kwargs)
        from keras_vaf.initializers import CurveStart
        from keras_vaf.layers import VAFActivation

        generator = np.random.default_rng(seed)
        size = generator.exponential(2 / count, count) ** 0.5
        start = CurveStart(
            g="sin",
            alpha=generator.uniform(0, 2, count).tolist(),
            alpha_bias=generator.uniform(-np.pi, np.pi, count).tolist(),
            beta=(size * generator.choice([-1, 1], count)).tolist(),
            beta_bias=0.0,
        )
        self.vaf = VAFActivation(count, "sin", initialization=start)

    def call(self, inputs: Tensor) -> Tensor:
        """Return f(x)."""
        return self.vaf(inputs)


FINER = Arm(
    *("finer", "FINER", "rival", "Activation"),
    {"activation": "keras_vaf.experiments>finer"},
    omega=OMEGA,
)
STAF = Arm(
    "staf", "STAF, 5 sines", "rival", "keras_vaf.experiments>Staf", {}, omega=OMEGA
)


def image(name: str, size: int) -> np.ndarray:
    """Return an image of scikit-learn as `(size, size, 3)` in [-1, 1].

    Args:
        name: `"china"` or `"flower"`.
        size: Pixels along both axes; each is the mean of a block.
    """
    datasets = require("sklearn.datasets", extra="experiments")
    full = datasets.load_sample_image(f"{name}.jpg").astype("float64")
    block = min(full.shape[:2]) // size
    top, left = ((length - block * size) // 2 for length in full.shape[:2])
    full = full[top : top + block * size, left : left + block * size]
    blocks = full.reshape(size, block, size, block, 3).mean(axis=(1, 3))
    return blocks / 127.5 - 1


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one image: half of its pixels are trained on."""
    pixels = image(dataset, SIZE).reshape(-1, 3)
    axis = (2 * np.arange(SIZE) + 1) / SIZE - 1
    places = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    order = np.random.default_rng(6).permutation(len(pixels))
    half, quarter = len(order) // 2, len(order) // 4
    parts = (order[:half], order[half:-quarter], order[-quarter:])
    pairs = [(places[part], pixels[part]) for part in parts]
    return regression(make_network(2, (48, 48, 48), 3), *pairs)


TASK = Task(
    name="images",
    title="Implicit images",
    datasets=("china", "flower"),
    arms=(
        *EVERYWHERE,
        *(FIXED[-1].with_omega(OMEGA), VAFS[-1].with_omega(OMEGA)),
        *(FINER, STAF),
    ),
    settings=Settings(steps=2000, batch=512),
    quick=Settings.quick(steps=30, batch=256, rates=(0.001,)),
    make=make,
    measure="RMSE on held-out pixels, in [-1, 1]",
)
