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


def relu_squared(h: torch.Tensor) -> torch.Tensor:
    """Return relu(h)^2."""
    return torch.relu(h).square()


def leaky_relu(h: torch.Tensor) -> torch.Tensor:
    """Return the leaky ReLU of Keras, whose slope is 0.2."""
    return functional.leaky_relu(h, 0.2)


FUNCTIONS: dict[str, G] = {
    "approximate_gelu": approximate_gelu,
    "celu": functional.celu,
    "cos": torch.cos,
    "elu": functional.elu,
    "erf": torch.erf,
    "exponential": torch.exp,
    "gelu": functional.gelu,
    "hard_shrink": functional.hardshrink,
    "hard_sigmoid": functional.hardsigmoid,
    "hard_silu": functional.hardswish,
    "hard_tanh": functional.hardtanh,
    "leaky_relu": leaky_relu,
    "log_sigmoid": functional.logsigmoid,
    "mish": functional.mish,
    "relu": torch.relu,
    "relu6": functional.relu6,
    "relu_squared": relu_squared,
    "selu": torch.selu,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "sin": torch.sin,
    "soft_shrink": functional.softshrink,
    "softplus": functional.softplus,
    "softsign": functional.softsign,
    "square": torch.square,
    "tanh": torch.tanh,
    "tanh_shrink": functional.tanhshrink,
}
"""Names are those of `keras_vaf.layers.VAFActivation`, and `"approximate_gelu"`."""


def checked(g: str | G) -> str | G:
    """Return g, or the first name of a function that has two.

    Raises:
        ValueError: If g is neither a name in `FUNCTIONS` nor callable.
    """
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
