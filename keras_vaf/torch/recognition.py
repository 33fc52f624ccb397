"""`recognize`, which finds out which function a module computes."""

import copy
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch.nn import functional

from keras_vaf.initializers import FunctionStart, GStart, PiecewiseLinearStart, Start
from keras_vaf.ops.activations import BY_NAME
from keras_vaf.torch.functions import FUNCTIONS, G, of_package

_ENDS = [-30.0, -16.0, 16.0, 30.0]
_ORDER = torch.randperm(165, generator=torch.Generator().manual_seed(0))
GRID = torch.cat([torch.tensor(_ENDS), torch.linspace(-8, 8, 161)])[_ORDER]
"""Points at which functions are compared. Their order is random."""
CALLED = {
    *("celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish"),
    *("hardtanh", "leaky_relu", "log_sigmoid", "logsigmoid", "mish", "prelu", "relu"),
    *("relu6", "rrelu", "selu", "sigmoid", "silu", "softplus", "softshrink"),
    *("softsign", "tanh", "tanhshrink", "threshold"),
}
"""Names of the functions of PyTorch that are activations where code calls them."""


class Found(NamedTuple):
    """The function of each element that a module computes."""

    name: str  # that of the class if no known function has its values
    start: Start
    g: str | G  # with which the start is exact
    bounded: bool = False  # as the values of gates are
    shaping: bool = False  # it often shapes an output or is a gate
    known: bool = True  # a known function, or a class of PyTorch, computes it


def recognize(module: torch.nn.Module) -> Found | None:
    """Return the function of each element that a module computes, if it does.

    Copies of a module without weights and parts are called on fixed numbers.
    """
    if isinstance(module, torch.nn.PReLU):
        return Found("prelu", GStart(), "relu")  # the start has its slopes
    if isinstance(module, torch.jit.ScriptModule):
        return None
    if [*module.parameters(), *module.buffers(), *module.children()]:
        return None
    y, x = _values(module), GRID.double()
    if y is None or torch.equal(y, x):
        return None
    ends = {a: y[x == a] for a in _ENDS}
    bounded = all(abs(ends[a] - ends[16 * a / abs(a)]) < 0.1 for a in _ENDS)
    for name, function in FUNCTIONS.items():
        if torch.allclose(y, function(x), 1e-6, 1e-9):
            lines = BY_NAME[name].lines if name in BY_NAME else None
            shaping = bounded or name in ("softplus", "log_sigmoid", "exponential")
            start = FunctionStart(of_package(name))
            return Found(name, start, "relu" if lines else name, bounded, shaping)
    slope = -float(ends[-30.0]) / 30
    if torch.allclose(y, torch.where(x > 0, x, slope * x), 1e-6, 1e-9):
        return Found(f"leaky_relu({slope:.3g})", leaky(slope), "relu")
    name, own = type(module).__name__, copy.deepcopy(module)
    known = type(module).__module__.startswith("torch.nn.")
    return Found(name, FunctionStart(own), own, bounded, bounded, known)


def leaky(slope: float) -> Start:
    """Return the start at a function with this slope below 0."""
    return PiecewiseLinearStart([0], [slope, 1])


def _values(module: torch.nn.Module) -> torch.Tensor | None:
    """Return what a module computes on the grid, if each element alone decides it."""
    shapes = [(5, 33), (5, 33), (33, 5), (33, 5)]
    try:
        with torch.no_grad():
            found = [
                copy.deepcopy(module)
                .train(i % 2 == 0)
                .forward(GRID.double().view(shape))
                for i, shape in enumerate(shapes)
            ]
        first, *others = [y.reshape(-1) for y in found]
        same = all(torch.equal(first, y) for y in others) and first.isfinite().all()
        fits = [y.shape for y in found] == shapes and first.dtype == torch.float64
    except Exception:  # it may need other inputs
        return None
    return first if same and fits else None


def held_functions(
    parts: dict[str, torch.nn.Module],
) -> Iterator[tuple[str, str, str]]:
    """Yield the paths of modules, of functions that they hold, and their names."""
    owners = torch, functional
    names = {getattr(owner, n, None): n for owner in owners for n in CALLED}
    for host, part in parts.items():
        for attribute, value in vars(part).items():
            known = callable(value) and getattr(value, "__hash__", None)
            if known and value in names:
                yield host, f"{host}.{attribute}".lstrip("."), names[value]
