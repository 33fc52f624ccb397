"""A VAF and its gradients on eager PyTorch, for all hidden units of a piece at once.

The hidden units form the first axis. A few operations then suffice. The additional axis
makes the input k times as large, so this module is only for pieces that stay in the
cache.
"""

from collections.abc import Callable

import torch

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.backends.choice import ONE_PRODUCT
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.vaf import VAF

# g(h), as Keras computes it, in a given tensor.
_VALUE: dict[str, Callable[..., torch.Tensor]] = {
    "relu": lambda h, out: torch.clamp_min(h, 0, out=out),
    "gelu": torch.ops.aten.gelu,
    "sigmoid": torch.sigmoid,
    "silu": torch.ops.aten.silu,
    "sin": torch.sin,
    "tanh": torch.tanh,
}
# d g'(h), given d, h and y = g(h), in one pass.
_PULL_BACK: dict[str, Callable[..., torch.Tensor]] = {
    "relu": lambda d, h, y, **out: torch.ops.aten.threshold_backward(d, h, 0, **out),
    "gelu": lambda d, h, y, **out: torch.ops.aten.gelu_backward(d, h, **out),
    "sigmoid": lambda d, h, y, **out: torch.ops.aten.sigmoid_backward(d, y, **out),
    "silu": lambda d, h, y, **out: torch.ops.aten.silu_backward(d, h, **out),
    "tanh": lambda d, h, y, **out: torch.ops.aten.tanh_backward(d, y, **out),
}


def forward(
    function: VAF, layout: Layout, x: torch.Tensor, *parameters: torch.Tensor
) -> torch.Tensor:
    """Return f(x), as `keras_vaf.ops.gradient.plain_forward` does."""
    if not layout.unshared:
        return _forward_of_one(function, x, *parameters)
    alpha, alpha_bias, beta, beta_bias = _in_front(layout, parameters)
    hidden = torch.addcmul(alpha_bias, alpha, x.to(alpha.dtype))
    return (beta * function.g(hidden)).sum(0).add_(beta_bias).to(x.dtype)


def gradients(
    function: VAF,
    layout: Layout,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of the input and of each parameter."""
    alpha, alpha_bias, beta, _ = _in_front(layout, parameters)
    inputs, d = x.to(alpha.dtype), upstream.to(alpha.dtype)
    hidden = torch.addcmul(alpha_bias, alpha, inputs)
    y = values_for_gradients(function, hidden)
    moved = pulled_back(function, d, hidden, y)
    shared = [axis for axis in range(1, alpha.ndim) if alpha.shape[axis] == 1]

    def total(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.sum(shared, keepdim=True)

    sum_0, sum_1 = total(moved), total(moved * inputs)
    if elementwise(function.g).homogeneous:
        for_beta = alpha * sum_1 + alpha_bias * sum_0
    else:
        for_beta = total(y * d)
    sums = (beta * sum_1, beta * sum_0, for_beta, total(d[None]))
    return (
        (alpha * beta * moved).sum(0).to(x.dtype),
        *(
            s.movedim(0, -1).reshape_as(p)
            for s, p in zip(sums, parameters, strict=True)
        ),
    )


def _forward_of_one(
    function: VAF, x: torch.Tensor, *parameters: torch.Tensor
) -> torch.Tensor:
    """Return f(x) by matrix products, if all elements share one function."""
    alpha, alpha_bias, beta, beta_bias = parameters
    hidden = hidden_units(x.reshape(1, -1).to(alpha.dtype), alpha, alpha_bias)
    y = torch.addmm(beta_bias.reshape(1, 1), beta[None], function.g(hidden))
    return y.view(x.shape).to(x.dtype)


def hidden_units(
    x: torch.Tensor,
    alpha: torch.Tensor,
    alpha_bias: torch.Tensor,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return h_j = alpha_j x + alpha_bias_j, of shape `(k, elements)`."""
    if x.numel() <= ONE_PRODUCT:
        return torch.addmm(alpha_bias[:, None], alpha[:, None], x, out=out)
    return torch.mul(alpha[:, None], x, out=out).add_(alpha_bias[:, None])


def values(
    function: VAF, hidden: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return g(h_j), in `out` if g is known."""
    value = _VALUE.get(name_of(function.g) or "")
    if value is None or out is None:
        return function.g(hidden)
    return value(hidden, out=out)


def values_for_gradients(
    function: VAF, hidden: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return g(h_j), or h_j if the gradients do not need g.

    PyTorch computes tanh twice as fast by way of expm1. The result differs from that of
    `torch.tanh` by up to 3 units in the last place.
    """
    if elementwise(function.g).homogeneous:
        return hidden
    if name_of(function.g) != "tanh":
        return values(function, hidden, out)
    # The limit avoids an overflow. The result is 1 in float64 before it.
    exponential = torch.mul(hidden, 2, out=out).clamp_(max=80).expm1_()
    return exponential.div_(exponential + 2)


def pulled_back(
    function: VAF,
    d: torch.Tensor,
    hidden: torch.Tensor,
    y: torch.Tensor,
    in_place: bool = False,
) -> torch.Tensor:
    """Return d g'(h_j).

    Args:
        function: The function f.
        d: The upstream gradient.
        hidden: The hidden units.
        y: What `values_for_gradients` returned.
        in_place: Whether the hidden units may be replaced by the result.
    """
    pull_back = _PULL_BACK.get(name_of(function.g) or "")
    if pull_back is None:
        return d * elementwise(function.g).slope(hidden, y)
    out = {"grad_input": hidden} if in_place else {}
    return pull_back(d.expand_as(hidden), hidden, y, **out)


def _in_front(
    layout: Layout, parameters: tuple[torch.Tensor, ...]
) -> list[torch.Tensor]:
    """Give the parameters, of shape `(*unshared, k)`, the shape `(k, *elements)`."""
    found = []
    for parameter in parameters:
        extra = parameter.shape[len(layout.unshared) :]
        front = parameter.movedim(-1, 0) if extra else parameter
        found.append(front.reshape(*extra, *layout.aligned(parameter)).contiguous())
    return found
