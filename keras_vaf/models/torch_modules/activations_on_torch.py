"""`activation_of` and `of_prelu`, which find the VAF for a module of PyTorch."""

import copy
from typing import Any, NamedTuple

import numpy as np
import torch

from keras_vaf.initializers import PiecewiseLinearStart, Start
from keras_vaf.layers import VAFActivation
from keras_vaf.models.analysis.fixed_activations import approximate_gelu
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, evaluate, get_function

_X = torch.linspace(-8, 8, 161, dtype=torch.float64)
_NAMES = ("relu", "gelu", "silu", "tanh", "elu", "selu", "softplus", "mish")
_REPLACED: tuple[str | Function, ...] = (
    *_NAMES,
    *("hard_silu", "relu6", "celu", "hard_tanh", "log_sigmoid", "tanh_shrink"),
    *("soft_shrink", "softsign", "relu_squared", approximate_gelu),
)
_GATES = ("sigmoid", "hard_sigmoid")
_MAY_BE_A_GATE = "it may be a gate, or shape an output; name it in `layers`"


class Activation(NamedTuple):
    """The activation that a module computes.

    Attributes:
        name: Its name.
        start: The start of a VAF at this function.
        g: The g of a VAF that is exact at the start.
        kept: Reason why `convert` keeps it, or "".
    """

    name: str
    start: str | Function | Start
    g: str | Function
    kept: str = ""


def activation_of(module: torch.nn.Module) -> Activation | None:
    """Return the activation that a module computes, or `None` if it is not one.

    A module without weights and parts is called once on numbers from -8 to 8. It is an
    activation if it acts on each element alone and if a known function has its values.

    Args:
        module: Any module. It is not changed.
    """
    if [*module.parameters(), *module.buffers(), *module.children()]:
        return None
    values = _values(module)
    if values is None or np.allclose(values, _X):
        return None
    for known in (*_GATES, *_REPLACED):
        if _equal(values, known):
            name = known if isinstance(known, str) else "approximate_gelu"
            lines = elementwise(get_function(known, "function")).lines
            kept = _MAY_BE_A_GATE if known in _GATES else ""
            return Activation(name, known, known if lines is None else "relu", kept)
    slope = -values[0] / 8
    if np.allclose(values, np.where(_X > 0, _X, slope * _X), 1e-9, 1e-12):
        start = PiecewiseLinearStart([0], [slope, 1])
        return Activation(f"leaky_relu({slope:.3g})", start, "relu")
    name = type(module).__name__
    return Activation(name, "relu", "relu", "no known function has its values")


def _values(module: torch.nn.Module) -> np.ndarray | None:
    """Return the values of a module that acts on each element alone, or `None`."""
    found = []
    for training in (False, True):
        for x in (_X[None], _X[:, None]):
            try:
                with torch.no_grad():
                    y = copy.deepcopy(module).train(training)(x.clone())
            except Exception:  # a module may need other inputs
                return None
            if not isinstance(y, torch.Tensor) or y.shape != x.shape:
                return None
            found.append(y.double().numpy().ravel())
    same = all(np.array_equal(y, found[0]) for y in found)
    return found[0] if same and np.isfinite(found[0]).all() else None


def _equal(values: np.ndarray, function: str | Function) -> bool:
    known = evaluate(get_function(function, "function"), _X.numpy())
    return np.allclose(values, known, 1e-9, 1e-12)


class PerChannel(torch.nn.Module):
    """A function of rank 2 that is applied along axis 1, for inputs of any rank.

    Args:
        vaf: A module whose functions differ along axis 1 of `(rows, channels)`.
    """

    def __init__(self, vaf: Any) -> None:
        super().__init__()
        self.vaf: Any = vaf

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return f(x), with one function for each channel."""
        last = x.movedim(1, -1)
        rows = self.vaf(last.reshape(-1, last.shape[-1]))
        return rows.reshape(last.shape).movedim(-1, 1)


def of_prelu(module: torch.nn.PReLU, arguments: dict[str, Any]) -> torch.nn.Module:
    """Return a VAF, or a VAF for each channel, with the slopes of a PReLU.

    Args:
        module: The PReLU.
        arguments: Further arguments of the VAF.
    """
    slopes = module.weight.detach().double().cpu().numpy()
    starts = [PiecewiseLinearStart([0], [float(slope), 1]) for slope in slopes]
    if len(starts) == 1:
        return VAFActivation(initialization=starts[0], **arguments)
    vaf = VAFActivation(sharing="channel", **arguments)
    vaf.build((None, len(starts)))
    each = [start((), vaf.k, vaf.g) for start in starts]
    vaf.set_weights([np.stack(values) for values in zip(*each, strict=True)])
    return PerChannel(vaf)
