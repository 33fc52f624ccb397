"""`VAF`, a VAF as a plain `torch.nn.Module` with one parameter."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.fx

from keras_vaf import initializers
from keras_vaf.ops.functions_on_torch import G, check_g, of_package
from keras_vaf.ops.on_torch import vaf
from keras_vaf.utils import MOST_UNITS, check_integer, check_kinds, check_sizes


class VAF(torch.nn.Module):
    """Variable Activation Function: an activation that is a tiny trained network.

    Formula:

    ```
    f(a) = sum_{j=1..k} beta_j * g(alpha_j * a + alpha_bias_j) + beta_bias
    ```

    This module computes the same numbers as `keras_vaf.layers.VAFActivation`. All
    numbers of a function are one row of its only parameter, `weight`. `alpha`,
    `alpha_bias`, `beta` and `beta_bias` are views of it. Write to them in place, inside
    `torch.no_grad()`: `vaf.beta.mul_(2)`.

    The output has the dtype of the input, also under `torch.autocast`. The arithmetic
    is in float32 at least.

    Args:
        k: Number of hidden units.
        g: Fixed function of the hidden units: a name, as for `VAFActivation`, or a
            function or module that acts on each element of a tensor.
        unshared: Sizes of the axes along which the function differs. `()` is one
            function for all elements; `(channels,)` is one function per channel.
        axes: These axes of the input, in ascending order. A negative one counts from
            the end. By default, they start at axis 1, as the channels of
            `torch.nn.PReLU` do.
        initialization: Function at which f starts, as for `VAFActivation`.
        device: Device of the weight.
        dtype: Data type of the weight.
        inplace: Has no effect. Models that take a class of activations, such as timm's
            with `act_layer=VAF`, pass it to each of them.

    Shape:
        Input and output: floating-point tensors that have the unshared sizes at `axes`.
        `weight`: `(*unshared, 3 * k + 1)`.

    Raises:
        ValueError: If an argument is invalid, or an input is not of a floating-point
            type or lacks the unshared axes.

    Reference:
        [Apicella, Isgrò, Prevete, 2019](https://doi.org/10.1016/j.neucom.2019.08.065),
        section 3.1.

    Example:

    >>> vaf = keras_vaf.torch.VAF(k=3, g="gelu", unshared=(16,))
    >>> vaf.weight.shape, vaf.beta.shape
    (torch.Size([16, 10]), torch.Size([16, 3]))
    """

    def __init__(
        self,
        k: int = 3,
        g: str | G = "relu",
        unshared: Sequence[int] = (),
        axes: Sequence[int] | None = None,
        initialization: initializers.Identifier = "g",
        device: Any = None,
        dtype: torch.dtype | None = None,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(k, bool):
            raise ValueError(
                "`k` must be an integer. A model that calls `act_layer(True)`, such as "
                "timm's VGG, needs `act_layer=lambda inplace: VAF()`. "
                f"Received: k={k}"
            )
        self.k = check_integer("k", k, maximum=MOST_UNITS)
        self.g = check_g(g)
        sizes = check_sizes("unshared", unshared)
        axes = range(1, 1 + len(sizes)) if axes is None else axes
        check_kinds("axes", axes, int)
        self.axes = tuple(axes)
        self.initialization = initialization
        empty = torch.empty((*sizes, 3 * self.k + 1), device=device, dtype=dtype)
        self.weight = torch.nn.Parameter(empty)
        self.reset_parameters()
        self.register_load_state_dict_pre_hook(_read_four_weights)

    @property
    def alpha(self) -> torch.Tensor:
        """A view of alpha, of shape `(*unshared, k)`."""
        return self.weight[..., : self.k]

    @property
    def alpha_bias(self) -> torch.Tensor:
        """A view of alpha_bias, of shape `(*unshared, k)`."""
        return self.weight[..., self.k : 2 * self.k]

    @property
    def beta(self) -> torch.Tensor:
        """A view of beta, of shape `(*unshared, k)`."""
        return self.weight[..., 2 * self.k : 3 * self.k]

    @property
    def beta_bias(self) -> torch.Tensor:
        """A view of beta_bias, of shape `unshared`."""
        return self.weight[..., 3 * self.k]

    def reset_parameters(self) -> None:
        """Set the weight to the start that `initialization` describes."""
        start = initializers.get(self.initialization)
        values = start(self.weight.shape[:-1], self.k, of_package(self.g))
        self.set_weights(values)

    def set_weights(self, values: Sequence[Any]) -> None:
        """Set alpha, alpha_bias, beta and beta_bias, and keep device and dtype."""
        *parts, last = map(np.asarray, values)
        packed = np.concatenate([*parts, last[..., None]], axis=-1)
        with torch.no_grad():
            self.weight.copy_(torch.from_numpy(packed))

    def forward(self, x: torch.Tensor | torch.fx.Proxy) -> Any:
        """Return f(x), in the dtype of x."""
        if isinstance(x, torch.fx.Proxy):  # the program calls it, as those of torch.nn
            tracer: Any = x.tracer
            return tracer.create_proxy(
                "call_module", tracer.path_of_module(self), (x,), {}
            )
        return vaf(x, self.weight, self.g, self.axes)

    def extra_repr(self) -> str:
        """Return what `print` shows of this module."""
        g, sizes = getattr(self.g, "__name__", self.g), tuple(self.weight.shape[:-1])
        kind = "sharing=channel, " if self.axes == (1,) else ""
        axes = f"{kind}unshared={sizes}, axes={self.axes}" if sizes else "sharing=layer"
        return f"k={self.k}, g={g}, {axes}"


def _read_four_weights(
    module: torch.nn.Module, state: dict[str, Any], prefix: str, *_: Any
) -> None:
    """Pack four weights into one, as a Keras layer stores them below this module."""
    names = "alpha", "alpha_bias", "beta", "beta_bias"
    keys = {re.split(r"[./]", key)[-1]: key for key in state if key.startswith(prefix)}
    if keys.keys() >= {*names}:
        *parts, last = [state.pop(keys[name]) for name in names]
        state[prefix + "weight"] = torch.cat([*parts, last[..., None]], -1)
