"""Task 6: images as functions of the coordinates."""

from __future__ import annotations

import dataclasses

import keras
import numpy as np
from keras import ops

from keras_vaf.initializers import CurveStart
from keras_vaf.layers import VAFActivation
from keras_vaf.research.map.arm import EVERYWHERE, FIXED, VAFS, Arm
from keras_vaf.research.map.task import Problem, Settings, Task
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.research.map.tasks.regression import regression
from keras_vaf.types import Tensor
from keras_vaf.utils import require

OMEGA = 30.0
SIZE = 64


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
def finer(x: Tensor) -> Tensor:
    """Return the activation function of FINER for x = omega (W z + b).

    FINER computes sin(omega (|a| + 1) a) with a = W z + b, and treats |a| + 1 as a
    constant in the gradient.

    Reference:
        Liu et al., *FINER: flexible spectral-bias tuning in implicit neural
        representation by variable-periodic activation functions*, 2024.
    """
    return ops.sin(ops.stop_gradient(ops.abs(x) / OMEGA + 1) * x)


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
class Staf(keras.layers.Layer):
    """sum_j c_j sin(w_j x + p_j), with the random start of STAF.

    Frequencies w are uniform in [0, omega], phases p in [-pi, pi]. The magnitude of c
    is the square root of an exponentially distributed number. The sign of c is random.

    Reference:
        Morsali et al., *A unified theory of sinusoidal activation families for implicit
        neural representations*, 2026, <https://arxiv.org/abs/2502.00869>.

    Args:
        count: Number of sines.
        omega: Largest frequency.
        power: Mean of c squared. With 2 / count, the variance of the outputs is 1.
        skip: Whether x is added.
        seed: Seed of the start.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

    def __init__(
        self,
        count: int = 5,
        omega: float = 30.0,
        power: float = 0.4,
        skip: bool = False,
        seed: int = 0,
        **kwargs: object,
    ) -> None:
        super().__init__(**kwargs)
        generator = np.random.default_rng([seed, 2])
        size = generator.exponential(power, count) ** 0.5
        start = CurveStart(
            g="sin",
            alpha=generator.uniform(0, omega, count).tolist(),
            alpha_bias=generator.uniform(-np.pi, np.pi, count).tolist(),
            beta=(size * generator.choice([-1, 1], count)).tolist(),
            beta_bias=0.0,
        )
        self.skip = skip
        self.vaf = VAFActivation(count, "sin", initialization=start)

    def call(self, inputs: Tensor) -> Tensor:
        """Return f(x)."""
        outputs = self.vaf(inputs)
        return outputs + inputs if self.skip else outputs


FINER = Arm(
    *("finer", "FINER", "rival", "Activation"),
    {"activation": "keras_vaf.experiments>finer"},
    kernels="siren",
    omega=OMEGA,
)
STAF = Arm(
    name="staf",
    title="STAF",
    kind="rival",
    layer="keras_vaf.experiments>Staf",
    kernels="torch",
    seeded=True,
)
STAF_CODE = dataclasses.replace(
    STAF,
    name="staf-code",
    title="STAF, as in its code",
    arguments={"power": 0.1, "skip": True},
    first={"omega": 60.0, "skip": False},
)
"""STAF as in its authors' code for images: with x added, and with other scales."""


def image(name: str, size: int) -> np.ndarray:
    """Return an image of scikit-learn, of shape `(size, size, 3)`, in [-1, 1].

    Args:
        name: `"china"` or `"flower"`.
        size: Number of pixels along both axes. Each pixel is the mean of a block.
    """
    datasets = require("sklearn.datasets", extra="experiments")
    full = datasets.load_sample_image(f"{name}.jpg").astype("float64")
    block = min(full.shape[:2]) // size
    top, left = ((length - block * size) // 2 for length in full.shape[:2])
    full = full[top : top + block * size, left : left + block * size]
    blocks = full.reshape(size, block, size, block, 3).mean(axis=(1, 3))
    return blocks / 127.5 - 1


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one image, with half of its pixels for training."""
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
        *(FINER, STAF, STAF_CODE),
    ),
    settings=Settings(steps=2000, batch=512),
    quick=Settings.quick(steps=30, batch=256, rates=(0.001,)),
    make=make,
    measure="RMSE on held-out pixels, in [-1, 1]",
)
