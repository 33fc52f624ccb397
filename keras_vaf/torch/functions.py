"""`recognize`, which finds the functions that modules compute."""

import copy
from typing import NamedTuple

import torch

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart, Start
from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.functions import recognize as find
from keras_vaf.ops.functions_on_torch import (
    FUNCTIONS,
    GRID,
    G,
    elementwise_values,
    of_package,
)


class Found(NamedTuple):
    """The function of each element that a module computes."""

    name: str  # that of the class if no known function has its values
    starts: tuple[Start, ...]  # one, or one for each slope of a PReLU
    g: str | G  # with which the starts are exact
    bounded: bool = False  # as the values of gates are
    known: bool = True  # a known function, or a class of PyTorch, computes it


def recognize(module: torch.nn.Module) -> Found | None:
    """Return the function of each element that a module computes, if it does.

    Copies of a module without weights and parts are called on fixed numbers.
    """
    if isinstance(module, torch.nn.PReLU):
        slopes = [] if module.weight.is_meta else module.weight.tolist()
        return Found("prelu", tuple(map(_leaky, slopes)), "relu")
    if isinstance(module, torch.jit.ScriptModule):
        return None
    if [*module.parameters(), *module.buffers(), *module.children()]:
        return None
    y, x = elementwise_values(module), GRID
    if y is None or torch.equal(y, x):
        return None
    bounded = bool((y[[0, -1]] - y[[1, -2]]).abs().max() < 0.1)
    own, known = copy.deepcopy(module), type(module).__module__.startswith("torch.nn.")
    name = getattr(find(own.forward, tolerance=1e-6), "__name__", "")
    if name in FUNCTIONS:
        lines = BY_NAME[name].lines if name in BY_NAME else None
        start = FunctionStart(of_package(name))
        return Found(name, (start,), "relu" if lines else name, bounded)
    slope = -float(y[0]) / 30
    if torch.allclose(y, torch.where(x > 0, x, slope * x), 1e-6, 1e-9):
        return Found(f"leaky_relu({slope:.3g})", (_leaky(slope),), "relu")
    return Found(type(module).__name__, (FunctionStart(own),), own, bounded, known)


def _leaky(slope: float) -> Start:
    """Return the start at a function with this slope below 0."""
    return PiecewiseLinearStart([0], [slope, 1])
