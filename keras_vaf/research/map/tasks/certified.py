"""Task 7: functions with slope 1, by networks with a Lipschitz certificate of 1."""

from __future__ import annotations

import keras
import numpy as np
from keras import ops

from keras_vaf.constraints import Interval, Orthogonal, SlopeBound
from keras_vaf.models import lipschitz_certificate
from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.slope_bound import check_slopes
from keras_vaf.research.map.arm import FIXED, PRELU, VAFS, Arm
from keras_vaf.research.map.task import Problem, Settings, Task
from keras_vaf.research.map.tasks.regression import regression
from keras_vaf.types import Tensor

WIDTHS = (32, 32, 32)
_CENTRES = ((-0.5, -0.2), (0.4, 0.5))


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
class MaxMin(keras.layers.Layer):
    """Sort each pair of units (GroupSort with groups of two).

    Reference:
        Anil, Lucas, Grosse, *Sorting out Lipschitz function approximation*, 2019.
    """

    def call(self, inputs: Tensor) -> Tensor:
        """Return the units, sorted in pairs."""
        first, second = ops.split(inputs, 2, axis=-1)
        largest, smallest = ops.maximum(first, second), ops.minimum(first, second)
        return ops.concatenate([largest, smallest], axis=-1)

    def lipschitz_constant(self) -> float:
        """Return 1, because sorting never increases the distance of two points."""
        return 1.0


def _distances(x: np.ndarray) -> np.ndarray:
    return np.min([np.linalg.norm(x - centre, axis=1) for centre in _CENTRES], axis=0)


FUNCTIONS = {
    "absolute": (1, lambda x: np.abs(x[:, 0])),
    "saw_tooth": (1, lambda x: np.abs((2 * x[:, 0]) % 1 - 0.5) / 2),
    "two_points": (2, _distances),
    "norm": (5, lambda x: np.abs(x).sum(axis=1) / 5**0.5),
}
"""Number of inputs, and a function with slopes of at most 1."""


def network_of(inputs: int, widths: tuple[int, ...] = WIDTHS) -> object:
    """Return a function that builds a network with a certificate of 1."""

    def network(arm: Arm, seed: int) -> keras.Model:
        model = keras.Sequential([keras.Input((inputs,))])
        for place, units in enumerate((*widths, 1)):
            start = keras.initializers.Orthogonal(seed=10 * seed + place)
            model.add(
                keras.layers.Dense(
                    units, kernel_initializer=start, kernel_constraint=Orthogonal()
                )
            )
            if place < len(widths):
                for layer in activations(arm):
                    model.add(layer)
        for layer in model.layers:  # the initial norm may be slightly above 1
            if isinstance(layer, keras.layers.Dense):
                layer.kernel.assign(layer.kernel.constraint(layer.kernel))
        return model

    return network


def activations(arm: Arm) -> list[keras.layers.Layer]:
    """Return the activation layers of an arm, with slopes of at most 1."""
    if arm.layer == "VAFActivation":
        known = {"function_constraint": SlopeBound(1.0), **arm.arguments}
        return [arm.build(**known)]
    if arm.layer == "PReLU":
        return [arm.build(alpha_constraint=Interval(-1.0, 1.0))]
    layers = [arm.build()]
    if arm.layer == "Activation":
        slopes = check_slopes(BY_NAME[arm.arguments["activation"]].value)
        steepest = max(abs(slopes.lowest), abs(slopes.highest))
        if steepest > 1:
            layers.append(keras.layers.Rescaling(float(1 / np.nextafter(steepest, 2))))
    return layers


def inspect(model: keras.Model) -> dict[str, float]:
    """Return the certificate and the largest slope between 10,000 random pairs."""
    generator = np.random.default_rng(0)
    x = generator.uniform(-1, 1, (10_000, model.input_shape[-1]))
    step = generator.normal(size=x.shape) * 10.0 ** generator.uniform(
        -3, 0, (10_000, 1)
    )
    rise = [
        ops.convert_to_numpy(model(each.astype("float32"))) for each in (x, x + step)
    ]
    change = np.abs(np.subtract(*rise, dtype="float64"))[:, 0]
    slopes = np.maximum(change - 1e-6, 0) / np.linalg.norm(step, axis=1)
    bound = lipschitz_certificate(model).bound
    return {"certificate": bound, "largest_slope": float(slopes.max())}


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one function."""
    inputs, function = FUNCTIONS[dataset]
    generator = np.random.default_rng(7)
    pairs = []
    for rows in (512, 256, 2000):
        x = generator.uniform(-1, 1, (rows, inputs))
        pairs.append((x, function(x)[:, None]))
    return regression(network_of(inputs), *pairs, inspect=inspect)  # type: ignore[arg-type]


LEAKY = Arm("leaky", "Leaky ReLU", "fixed", "Activation", {"activation": "leaky_relu"})
"""A sixth fixed function, so that there are as many fixed functions as VAFs."""

PER_UNIT = Arm(
    "vaf-relu-unit",
    "VAF, k = 2, per unit",
    "vaf",
    "VAFActivation",
    {
        "k": 2,
        "g": "relu",
        "function_constraint": keras.saving.serialize_keras_object(
            SlopeBound(1.0, scaling="unit")
        ),
        "alpha_constraint": keras.saving.serialize_keras_object(Interval(-1.0, 1.0)),
    },
)
"""The best arm of `benchmarks/certified_causes.py` on the absolute value."""

MAXMIN = Arm("maxmin", "MaxMin", "rival", "keras_vaf.experiments>MaxMin")

TASK = Task(
    name="certified",
    title="Certified 1-Lipschitz networks",
    datasets=tuple(FUNCTIONS),
    arms=(*FIXED, LEAKY, *VAFS, PER_UNIT, PRELU, MAXMIN),
    settings=Settings(steps=2000, batch=128),
    quick=Settings.quick(steps=50, batch=128),
    make=make,
    counts=False,  # fixed activations have a proven lower bound on the error
)
