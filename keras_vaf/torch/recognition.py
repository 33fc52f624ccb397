"""`recognize`, which finds out which function a module computes."""

import copy
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch.nn import functional

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart, Start
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
    """The function of each element that a module computes.

    Attributes:
        name: Its name, or that of the class if no known function has its values.
        start: The start of a VAF at it.
        g: The g with which the start is exact.
        bounded: Whether the values stay bounded, as those of gates do.
        shaping: Whether it often shapes an output or is a gate.
        known: Whether a known function, or a class of PyTorch, computes it.
    """

    name: str
    start: Start
    g: str | G
    bounded: bool = False
    shaping: bool = False
    known: bool = True


def recognize(module: torch.nn.Module) -> Found | None:
    """Return the function that a module computes, or `None` for other modules.

    A module without weights and parts is copied, and its `forward` is called on fixed
    numbers. It is an activation if it acts on each element alone.

    Args:
        module: Any module. It is not changed.
    """
    if isinstance(module, torch.nn.PReLU):
        return Found("prelu", _leaky(module.weight[0].item()), "relu")
    if isinstance(module, torch.jit.ScriptModule):
        return None
    if [*module.parameters(), *module.buffers(), *module.children()]:
        return None
    y = _values(module, (5, 33))
    if y is None or torch.equal(y, GRID.double()):
        return None
    if (other := _values(module, (33, 5))) is None or not torch.equal(y, other):
        return None
    ends = {x: y[x == GRID] for x in _ENDS}
    bounded = all(abs(ends[x] - ends[16 * x / abs(x)]) < 0.1 for x in _ENDS)
    for name, function in FUNCTIONS.items():
        if torch.allclose(y, function(GRID.double()), 1e-6, 1e-9):
            return _known(name, bounded)
    slope = -float(ends[-30.0]) / 30
    if torch.allclose(
        y, torch.where(GRID > 0, GRID, slope * GRID).double(), 1e-6, 1e-9
    ):
        return Found(f"leaky_relu({slope:.3g})", _leaky(slope), "relu")
    name, own = type(module).__name__, copy.deepcopy(module)
    known = type(module).__module__.startswith("torch.nn.")
    return Found(name, FunctionStart(own), own, bounded, bounded, known)


def _known(name: str, bounded: bool) -> Found:
    lines = BY_NAME[name].lines if name in BY_NAME else None
    start = FunctionStart(of_package(name))
    shaping = bounded and name != "relu6"
    shaping |= name in ("softplus", "log_sigmoid", "exponential")
    return Found(name, start, name if lines is None else "relu", bounded, shaping)


def _leaky(slope: float) -> Start:
    return PiecewiseLinearStart([0], [slope, 1])


def _values(module: torch.nn.Module, shape: tuple[int, int]) -> torch.Tensor | None:
    """Return what a copy computes on the grid, without hooks, or `None`."""
    x = GRID.double().reshape(shape)
    try:
        with torch.no_grad():
            found = [
                copy.deepcopy(module).train(training).forward(x.clone())
                for training in (False, True)
            ]
        same = torch.equal(*found) and found[0].dtype == x.dtype
    except Exception:  # it may need other inputs
        return None
    if not same or found[0].shape != shape or not found[0].isfinite().all():
        return None
    return found[0].reshape(-1)


def held_functions(module: torch.nn.Module) -> Iterator[tuple[str, str]]:
    """Yield the paths of functions that a module holds as attributes, and names."""
    names = {
        getattr(owner, name): name
        for owner in (torch, functional)
        for name in CALLED
        if hasattr(owner, name)
    }
    for path, part in module.named_modules():
        for attribute, value in vars(part).items():
            known = callable(value) and getattr(value, "__hash__", None)
            if known and value in names:
                yield f"{path}.{attribute}".lstrip("."), names[value]
