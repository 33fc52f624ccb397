"""`freeze_module`, which returns a module that needs only PyTorch."""

import copy
from collections.abc import Callable

import torch
from torch.nn import functional

from keras_vaf.layers import TrainableActivation
from keras_vaf.models.surgery.report import (
    ConversionReport,
    ReplacedActivation,
    keep_report,
)
from keras_vaf.models.torch_modules.activations_on_torch import PerChannel
from keras_vaf.models.torch_modules.conversion_on_torch import replace_parts
from keras_vaf.models.vaf_equivalent import built_shape, units_of

_FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "approximate_gelu": lambda h: functional.gelu(h, approximate="tanh"),
    "celu": functional.celu,
    "cos": torch.cos,
    "elu": functional.elu,
    "erf": torch.erf,
    "gelu": functional.gelu,
    "hard_silu": functional.hardswish,
    "log_sigmoid": functional.logsigmoid,
    "mish": functional.mish,
    "relu": torch.relu,
    "relu_squared": lambda h: torch.square(torch.relu(h)),
    "selu": torch.selu,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
    "sin": torch.sin,
    "softplus": functional.softplus,
    "softsign": functional.softsign,
    "square": torch.square,
    "tanh": torch.tanh,
}


class FrozenVAF(torch.nn.Module):
    """A VAF with fixed numbers, which `torch.fx` turns into plain PyTorch code."""

    alpha: torch.Tensor
    alpha_bias: torch.Tensor
    beta: torch.Tensor
    beta_bias: torch.Tensor

    def __init__(self, layer: TrainableActivation) -> None:
        super().__init__()
        g, units, constant = units_of(layer)
        name = getattr(g, "__name__", "")
        if name not in _FUNCTIONS:
            raise ValueError(
                "`freeze` needs a g that PyTorch has. "
                f"Received: {layer.name!r} with g={name}"
            )
        self._g = _FUNCTIONS[name]
        axes, shape = layer._unshared_axes, built_shape(layer)
        sizes = [shape[i] or 1 if i in axes else 1 for i in range(1, len(shape))]
        places = sizes if axes else []
        self._k = units.shape[-1]
        numbers = torch.tensor(units, dtype=torch.float32).movedim(-1, 1)
        for kind, values in zip(("alpha", "alpha_bias", "beta"), numbers, strict=True):
            self.register_buffer(kind, values.reshape(self._k, *places))
        bias = torch.tensor(constant, dtype=torch.float32).reshape(places)
        self.register_buffer("beta_bias", bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return f(x)."""
        y = self.beta_bias
        for j in range(self._k):
            h = self.alpha[j] * x + self.alpha_bias[j]
            y = y + self.beta[j] * self._g(h)
        return y


def freeze_module(module: torch.nn.Module) -> torch.nn.Module:
    """Return a copy of a module in which PyTorch code replaces each VAF.

    Args:
        module: A module with trainable activations that `to_vaf` supports.

    Raises:
        ValueError: If there is none, or if one has a g that PyTorch does not have.
    """
    module = copy.deepcopy(module)
    new: dict[int, torch.nn.Module] = {}
    lines = []
    for path, part in module.named_modules():
        if isinstance(part, PerChannel):
            whole = PerChannel(FrozenVAF(part.vaf))
            new[id(part)] = torch.fx.symbolic_trace(whole)
        elif isinstance(part, TrainableActivation):
            new[id(part)] = torch.fx.symbolic_trace(FrozenVAF(part))
            count = -sum(weight.numel() for weight in part.parameters())
            name = type(part).__name__
            lines.append(ReplacedActivation(path, name, "torch.fx", 0.0, count))
    if not lines:
        raise ValueError(
            "Expected a module with trainable activations, such as `convert` returns. "
            f"Received: {type(module).__name__}"
        )
    frozen = replace_parts(module, new)
    keep_report(frozen, ConversionReport(tuple(lines)))
    return frozen
