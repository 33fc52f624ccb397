"""`FUNCTIONS`, each g on PyTorch by its name, `vaf_formula`, and `recognize`."""

import copy
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch.nn import functional

from keras_vaf.ops import functions
from keras_vaf.ops.activations import ALIASES, BY_NAME
from keras_vaf.ops.equation import Layout
from keras_vaf.utils import did_you_mean

Tensor = torch.Tensor
G = Callable[[Tensor], Tensor]


def approximate_gelu(h: Tensor) -> Tensor:
    """Return the approximation of GELU by tanh."""
    return functional.gelu(h, approximate="tanh")


_IN_TORCH = ("cos", "erf", "relu", "selu", "sigmoid", "sin", "square", "tanh")
_IN_FUNCTIONAL = (
    *("celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_tanh"),
    *("log_sigmoid", "mish", "relu6", "silu", "soft_shrink", "softplus", "softsign"),
    "tanh_shrink",
)
FUNCTIONS: dict[str, G] = {
    **{name: getattr(torch, name) for name in _IN_TORCH},
    **{name: getattr(functional, name.replace("_", "")) for name in _IN_FUNCTIONAL},
    "approximate_gelu": approximate_gelu,
    "exponential": torch.exp,
    "hard_silu": functional.hardswish,
    "leaky_relu": lambda h: functional.leaky_relu(h, 0.2),  # as in Keras
    "relu_squared": lambda h: torch.relu(h).square(),
}
"""Functions g by name: those of `VAFActivation`, and `"approximate_gelu"`."""


def function_of(g: str | G) -> G:
    """Return g as a function of tensors."""
    if not isinstance(g, str):
        return g
    return FUNCTIONS[g] if g in FUNCTIONS else BY_NAME[g].value


def vaf_formula(g: str | G, layout: Layout, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) in PyTorch's operators, of a packed weight or of four parameters.

    Programs hold the hidden units one by one, as compilers merge them. A Keras layer
    computes all units at once where this takes less time.
    """
    value, wide = function_of(g), torch.promote_types(x.dtype, parameters[0].dtype)
    same = x.dtype == parameters[0].dtype
    h, *parts = (x, *parameters) if same else [t.to(wide) for t in (x, *parameters)]
    recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()
    few = 2**13 if x.ndim - 1 in layout.unshared else 2**15
    if len(parts) > 1 and not recorded and (not layout.unshared or x.numel() < few):
        return _all_units(value, layout, h, *parts).to(x.dtype)
    rows = [
        p.reshape(*layout.aligned(p), *(p.shape[len(layout.unshared) :] or (1,)))
        for p in parts
    ]
    if len(rows) == 1:
        rows = rows[0].split([rows[0].shape[-1] // 3] * 3 + [1], -1)
    *units, y = rows
    y = y.squeeze(-1)
    for a, b, w in zip(*[unit.unbind(-1) for unit in units], strict=True):
        y = y + w * value(a * h + b)
    return y.to(x.dtype)


def _all_units(g: G, layout: Layout, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) of four parameters, whose hidden units form one more axis."""
    if not layout.unshared:  # products of matrices compute the sums
        alpha, alpha_bias, beta, beta_bias = [p.reshape(-1, 1) for p in parameters]
        device = "cpu" if x.is_meta else x.device.type
        with torch.autocast(device, enabled=False):  # it would round them to 16 bits
            hidden = g(torch.addmm(alpha_bias, alpha, x.reshape(1, -1)))
            return torch.addmm(beta_bias, beta.T, hidden).reshape(x.shape)
    *units, last = parameters
    alpha, alpha_bias, beta = [
        p.movedim(-1, 0).reshape(p.shape[-1], *layout.aligned(p)) for p in units
    ]
    hidden = g(torch.addcmul(alpha_bias, alpha, x))
    return (beta * hidden).sum(0) + last.reshape(layout.aligned(last))


def check_g(g: str | G) -> str | G:
    """Return g, or the first name of a function that has names."""
    if not isinstance(g, str):
        if callable(g) and not isinstance(g, type):
            return next((name for name, each in FUNCTIONS.items() if each is g), g)
    elif ALIASES.get(g, g) in FUNCTIONS:
        return ALIASES.get(g, g)
    raise ValueError(
        "`g` must be a function or module that acts on each element of a tensor, or "
        f"one of {', '.join(FUNCTIONS)}.{did_you_mean(g, FUNCTIONS)} Received: g={g!r}"
    )


def of_package(g: str | G) -> G:
    """Return g as the package's table knows it, or else as a function of PyTorch."""
    return BY_NAME[g].value if isinstance(g, str) and g in BY_NAME else function_of(g)


_GRID = torch.tensor([-30, -16, *torch.linspace(-8, 8, 161).tolist(), 16, 30]).double()


class Found(NamedTuple):
    """The function of each element that a module computes.

    Args:
        name: Name of the function, or of the class if no known function has its values.
        function: The function.
        g: A VAF with this g can be equal to it.
        slopes: Slopes below 0, one for each channel of a PReLU.
        bounded: Whether its values are bounded, as those of gates are.
        known: Whether a known function, or a class of PyTorch, computes it.
    """

    name: str
    function: G
    g: str | G = "relu"
    slopes: tuple[float, ...] = ()
    bounded: bool = False
    known: bool = True


def recognize(module: torch.nn.Module) -> Found | None:
    """Return the function of each element that a module computes, if it does.

    Copies of a module without weights and parts are called on fixed numbers.
    """
    if isinstance(module, torch.nn.PReLU):
        slopes = [] if module.weight.is_meta else module.weight.tolist()
        return Found("prelu", module, slopes=tuple(slopes))
    if isinstance(module, torch.jit.ScriptModule):
        return None
    if [*module.parameters(), *module.buffers(), *module.children()]:
        return None
    y, x = _elementwise_values(module), _GRID
    if y is None or torch.equal(y, x):
        return None
    bounded = bool((y[[0, -1]] - y[[1, -2]]).abs().max() < 0.1)
    own, known = copy.deepcopy(module), type(module).__module__.startswith("torch.nn.")
    name = getattr(functions.recognize(own.forward, 1e-6), "__name__", "")
    if name in FUNCTIONS:
        lines = BY_NAME[name].lines if name in BY_NAME else None
        g = "relu" if lines else name
        return Found(name, of_package(name), g, bounded=bounded)
    slope = -float(y[0]) / 30
    if torch.allclose(y, torch.where(x > 0, x, slope * x), 1e-6, 1e-9):
        return Found(f"leaky_relu({slope:.3g})", own, slopes=(slope,))
    return Found(type(module).__name__, own, own, bounded=bounded, known=known)


def _elementwise_values(module: torch.nn.Module) -> torch.Tensor | None:
    """Return what a module computes on the grid, if each element alone decides it."""
    order = torch.randperm(len(_GRID), generator=torch.Generator().manual_seed(0))
    found = []
    try:
        for training, *shape in ((0, 5, 33), (0, 33, 5), (1, 5, 33), (1, 33, 5)):
            own = copy.deepcopy(module).train(bool(training))
            with torch.no_grad():
                y = own.forward(_GRID[order].view(shape))
            if [*y.shape] != shape or y.dtype != torch.float64:
                return None
            found.append(y.flatten()[order.argsort()])
    except Exception:  # it may need other inputs
        return None
    same = all(torch.equal(y, found[0]) for y in found)
    return found[0] if same and found[0].isfinite().all() else None
