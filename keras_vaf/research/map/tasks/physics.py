"""Task 5: differential equations, solved by physics-informed networks.

The networks are u(x) = a(x) + b(x) N(x), where a has the boundary values and b is 0 at
the boundary. Therefore the loss contains only the residual of the equation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from keras import ops

from keras_vaf.research.map.arm import EVERYWHERE, Arm
from keras_vaf.research.map.task import (
    Apply,
    Batch,
    Problem,
    Settings,
    Task,
)
from keras_vaf.research.map.tasks.networks import make_network
from keras_vaf.utils import require

PI = float(np.pi)
Field = Callable[[Any], Any]
LAAF = Arm(
    "laaf", "LAAF: VAF, k = 1, tanh", "rival", "VAFActivation", {"k": 1, "g": "tanh"}
)
VISCOSITY = 0.01 / PI


@dataclass(frozen=True)
class Equation:
    """A differential equation on [-1, 1]^n.

    Attributes:
        inputs: Number of variables.
        field: `field(apply, x)` returns u at points x, where `apply` is the network.
        residual: `residual(u, x)` returns the residual of the equation, which is 0 for
            its solution.
        solution: Function that returns points and the true u at these points, for the
            test error.
    """

    inputs: int
    field: Callable[[Apply, Any], Any]
    residual: Callable[[Field, Any], Any]
    solution: Callable[[], tuple[np.ndarray, np.ndarray]]


def derivatives(u: Field, x: Any, axis: int) -> tuple[Any, Any]:
    """Return the first and second derivatives along an axis, in forward mode."""
    import jax

    direction = ops.zeros_like(x) + ops.one_hot(axis, x.shape[-1], dtype=x.dtype)

    def first(z: Any) -> Any:
        return jax.jvp(u, (z,), (direction,))[1]

    return jax.jvp(first, (x,), (direction,))


def _bubble(x: Any) -> Any:
    """Return the product of 1 - x_i^2, which is 0 at the boundary."""
    return ops.prod(1 - x * x, axis=-1, keepdims=True)


def _poisson(u: Field, x: Any) -> Any:
    """Return the residual for u = sin(2 pi x) + 0.1 sin(16 pi x), relative to u''."""
    _, curvature = derivatives(u, x, 0)
    low, high = 2 * PI, 16 * PI
    source = low**2 * ops.sin(low * x) + 0.1 * high**2 * ops.sin(high * x)
    return (curvature + source) / high**2 * 10


def _poisson_solution() -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-1, 1, 1001)[:, None]
    return x, np.sin(2 * PI * x) + 0.1 * np.sin(16 * PI * x)


def _helmholtz(u: Field, x: Any) -> Any:
    """Return the residual of u_xx + u_yy + u for u = sin(pi x) sin(4 pi y), scaled."""
    (_, u_xx), (_, u_yy) = derivatives(u, x, 0), derivatives(u, x, 1)
    wave = ops.sin(PI * x[..., :1]) * ops.sin(4 * PI * x[..., 1:])
    return (u_xx + u_yy + u(x) - (1 - 17 * PI**2) * wave) / (17 * PI**2)


def _helmholtz_solution() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(*[np.linspace(-1, 1, 51)] * 2, indexing="ij")
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    return points, (np.sin(PI * points[:, :1]) * np.sin(4 * PI * points[:, 1:]))


def _time(x: Any) -> Any:
    """Return t in [0, 1] from the second variable."""
    return (x[..., 1:] + 1) / 2


def _burgers_field(apply: Apply, x: Any) -> Any:
    place = x[..., :1]
    return -ops.sin(PI * place) + _time(x) * (1 - place * place) * apply(x)


def _burgers(u: Field, x: Any) -> Any:
    """Return u_t + u u_x - v u_xx."""
    u_x, u_xx = derivatives(u, x, 0)
    u_t, _ = derivatives(u, x, 1)
    return 2 * u_t + u(x) * u_x - VISCOSITY * u_xx


def _burgers_solution() -> tuple[np.ndarray, np.ndarray]:
    """Return the Cole-Hopf solution, computed by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite.hermgauss(200)
    x, t = np.meshgrid(np.linspace(-1, 1, 101), np.linspace(0.02, 1, 26), indexing="ij")
    shifted = x[..., None] - nodes * np.sqrt(4 * VISCOSITY * t[..., None])
    exponent = -np.cos(PI * shifted) / (2 * PI * VISCOSITY)
    exponent -= exponent.max(axis=-1, keepdims=True)
    density = weights * np.exp(exponent)
    u = -np.sum(density * np.sin(PI * shifted), -1) / np.sum(density, -1)
    return np.stack([x.ravel(), 2 * t.ravel() - 1], axis=1), u.reshape(-1, 1)


def _allen_cahn_field(apply: Apply, x: Any) -> Any:
    place = x[..., :1]
    start = place * place * ops.cos(PI * place)
    return start + _time(x) * (1 - place * place) * apply(x)


def _allen_cahn(u: Field, x: Any) -> Any:
    """Return u_t - 0.0001 u_xx + 5 u^3 - 5 u."""
    _, u_xx = derivatives(u, x, 0)
    u_t, _ = derivatives(u, x, 1)
    now = u(x)
    return 2 * u_t - 0.0001 * u_xx + 5 * now * (now * now - 1)


@functools.cache
def _allen_cahn_solution() -> tuple[np.ndarray, np.ndarray]:
    """Return the solution on Chebyshev points, by implicit integration with SciPy."""
    integrate = require("scipy.integrate", extra="experiments")
    degree = 160
    x = np.cos(PI * np.arange(degree + 1) / degree)
    c = np.where(np.isin(np.arange(degree + 1), (0, degree)), 2.0, 1.0)
    c *= (-1.0) ** np.arange(degree + 1)
    difference = x[:, None] - x + np.eye(degree + 1)
    matrix = np.outer(c, 1 / c) / difference
    matrix -= np.diag(matrix.sum(axis=1))
    second = (matrix @ matrix)[1:-1]

    def slope(_: float, inside: np.ndarray) -> np.ndarray:
        u = np.concatenate([[-1.0], inside, [-1.0]])
        return 0.0001 * second @ u + 5 * (inside - inside**3)

    times = np.linspace(0, 1, 26)
    start = (x**2 * np.cos(PI * x))[1:-1]
    found = integrate.solve_ivp(
        slope, (0, 1), start, "BDF", times, rtol=1e-8, atol=1e-9
    )
    inside = found.y.T
    points = [np.stack([x[1:-1], np.full(degree - 1, 2 * t - 1)], 1) for t in times]
    return np.concatenate(points), inside.reshape(-1, 1)


EQUATIONS = {
    "poisson": Equation(
        1, lambda apply, x: _bubble(x) * apply(x), _poisson, _poisson_solution
    ),
    "burgers": Equation(2, _burgers_field, _burgers, _burgers_solution),
    "allen_cahn": Equation(2, _allen_cahn_field, _allen_cahn, _allen_cahn_solution),
    "helmholtz": Equation(
        2, lambda apply, x: _bubble(x) * apply(x), _helmholtz, _helmholtz_solution
    ),
}


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of one equation. The test error is relative to |u|."""
    equation = EQUATIONS[dataset]
    generator = np.random.default_rng(5)

    def loss(apply: Apply, batch: Batch) -> Any:
        rest = equation.residual(lambda x: equation.field(apply, x), batch["x"])
        return ops.mean(ops.square(rest))

    def error(apply: Apply, held: Batch) -> Any:
        difference = equation.field(apply, held["test_x"]) - held["test_u"]
        return ops.sqrt(
            ops.sum(ops.square(difference)) / ops.sum(ops.square(held["test_u"]))
        )

    def points(count: int) -> np.ndarray:
        return generator.uniform(-1, 1, (count, equation.inputs)).astype("float32")

    test_x, test_u = equation.solution()
    held = {"x": points(512), "test_x": test_x, "test_u": test_u}
    return Problem(
        network=make_network(equation.inputs, (32, 32, 32), 1),
        loss=loss,
        validation=loss,
        error=error,
        phases=({"x": points(2048)},),
        held=({name: array.astype("float32") for name, array in held.items()},),
        forward_mode=True,
    )


TASK = Task(
    name="physics",
    title="Physics-informed networks",
    datasets=tuple(EQUATIONS),
    # With second derivatives, a step of KAF takes 80 times as long as a step of tanh.
    arms=(*(arm for arm in EVERYWHERE if arm.name != "kaf"), LAAF),
    settings=Settings(steps=3000, batch=256),
    quick=Settings.quick(steps=50, batch=128),
    make=make,
    measure="relative L2 error",
)
