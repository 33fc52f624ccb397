"""`FUNCTIONS`, the fixed functions g by name, as functions of PyTorch."""

from collections.abc import Callable

import torch
from torch.nn import functional

from keras_vaf.ops.activations import ALIASES, BY_NAME
from keras_vaf.utils import did_you_mean

G = Callable[[torch.Tensor], torch.Tensor]


def approximate_gelu(h: torch.Tensor) -> torch.Tensor:
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
"""Names are those of `keras_vaf.layers.VAFActivation`, and `"approximate_gelu"`."""


def checked(g: str | G) -> str | G:
    """Return g, or the first name of a function that has two."""
    if not isinstance(g, str):
        if callable(g) and not isinstance(g, type):
            return g
    elif ALIASES.get(g, g) in FUNCTIONS:
        return ALIASES.get(g, g)
    raise ValueError(
        "`g` must be a function or module that acts on each element of a tensor, or "
        f"one of {', '.join(FUNCTIONS)}.{did_you_mean(g, FUNCTIONS)} Received: g={g!r}"
    )


def on_torch(g: str | G) -> G:
    """Return g as a function of PyTorch."""
    return FUNCTIONS[g] if isinstance(g, str) else g


def of_package(g: str | G) -> G:
    """Return g as the package's table knows it, or else as a function of PyTorch."""
    return BY_NAME[g].value if isinstance(g, str) and g in BY_NAME else on_torch(g)
