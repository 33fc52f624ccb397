"""A VAF and its gradients on eager PyTorch, all hidden units of a piece at once.

The units form the first axis, so that a few operations suffice: products of matrices
if all elements share one function. The axis makes the input k times as large, so this
module is for pieces of the input that stay in the cache.
"""

from collections.abc import Callable

import torch

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.vaf import VAF

# d g'(h), given d, h and y = g(h), in one pass.
_PULL_BACK: dict[str, Callable[..., torch.Tensor]] = {
    "relu": lambda d, h, y: torch.ops.aten.threshold_backward(d.expand_as(h), h, 0),
    "sigmoid": lambda d, h, y: torch.ops.aten.sigmoid_backward(d.expand_as(h), y),
    "tanh": lambda d, h, y: torch.ops.aten.tanh_backward(d.expand_as(h), y),
}


def forward(
    function: VAF, layout: Layout, x: torch.Tensor, *parameters: torch.Tensor
) -> torch.Tensor:
    """As `keras_vaf.ops.gradient.forward`."""
    units = _Units(layout, parameters[0])
    alpha, alpha_bias, beta, beta_bias = map(units.in_front, parameters)
    hidden = units.hidden(units.elements(x), alpha, alpha_bias)
    y = units.over_units(beta, function.g(hidden)).add_(beta_bias)
    return y.view(x.shape).to(x.dtype)


def gradients(
    function: VAF,
    layout: Layout,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Gradients of the input and of each parameter."""
    units = _Units(layout, parameters[0])
    alpha, alpha_bias, beta, _ = map(units.in_front, parameters)
    inputs, d = units.elements(x), units.elements(upstream)
    hidden = units.hidden(inputs, alpha, alpha_bias)
    y = function.g(hidden)
    g = elementwise(function.g)
    pull_back = _PULL_BACK.get(name_of(function.g) or "")
    moved = pull_back(d, hidden, y) if pull_back else d * g.slope(hidden, y)

    sum_0, sum_1 = units.over_elements(moved), units.over_elements(moved, inputs)
    if g.homogeneous:
        for_beta = alpha * sum_1 + alpha_bias * sum_0
    else:
        for_beta = units.over_elements(y, d)
    sums = (beta * sum_1, beta * sum_0, for_beta, units.over_elements(d[None]))
    return (
        units.over_units(alpha * beta, moved).view(x.shape).to(x.dtype),
        *map(units.behind, sums, parameters),
    )


class _Units:
    """Tensors `(k, *elements)`; where all share one function, elements are one axis."""

    def __init__(self, layout: Layout, alpha: torch.Tensor) -> None:
        self.unshared = layout.unshared
        self.dtype = alpha.dtype
        self.sizes = [1] * (layout.rank if layout.unshared else 1)
        for axis, size in zip(layout.unshared, alpha.shape, strict=False):
            self.sizes[axis] = size
        self.shared = [a for a, size in enumerate(self.sizes, 1) if size == 1]

    def in_front(self, parameter: torch.Tensor) -> torch.Tensor:
        """A parameter of shape `(*unshared, k)` as `(k, *elements)`."""
        if not self.unshared:
            return parameter.reshape(-1, 1)
        if parameter.ndim == len(self.unshared):
            return parameter.reshape(self.sizes)
        return parameter.movedim(-1, 0).reshape(-1, *self.sizes).contiguous()

    def behind(self, total: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
        """Undo it."""
        total = total.movedim(0, -1) if self.unshared else total
        return total.reshape(parameter.shape)

    def elements(self, x: torch.Tensor) -> torch.Tensor:
        return (x if self.unshared else x.reshape(-1)).to(self.dtype)

    def hidden(
        self, x: torch.Tensor, alpha: torch.Tensor, alpha_bias: torch.Tensor
    ) -> torch.Tensor:
        """alpha_j x + alpha_bias_j."""
        if self.unshared:
            return torch.addcmul(alpha_bias, alpha, x)
        return torch.mul(alpha, x).add_(alpha_bias)

    def over_units(self, weight: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
        """sum_j weight_j tensor_j."""
        if self.unshared:
            return (weight * tensor).sum(0)
        return weight.mT.matmul(tensor)

    def over_elements(
        self, tensor: torch.Tensor, other: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Sums of tensor_j, or of their products with another tensor."""
        if other is not None:
            if not self.unshared:
                return tensor.matmul(other)[:, None]
            tensor = tensor * other
        return tensor.sum(self.shared, keepdim=True)
