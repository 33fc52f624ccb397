"""A VAF and its gradients on eager PyTorch, for all hidden units of a piece at once.

The hidden units form the first axis. A few operations then suffice. The additional axis
makes the input k times as large, so this module is only for pieces that stay in the
cache.
"""

from collections.abc import Callable, Sequence

import torch

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.backends.choice import ONE_PRODUCT
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.vaf import VAF

Tensor = torch.Tensor

# g(h), as Keras computes it, in a given tensor.
_VALUE: dict[str, Callable[..., Tensor]] = {
    "relu": lambda h, out: torch.clamp_min(h, 0, out=out),
    "gelu": torch.ops.aten.gelu,
    "sigmoid": torch.sigmoid,
    "silu": torch.ops.aten.silu,
    "sin": torch.sin,
    "tanh": torch.tanh,
}
# d g'(h), given d, h and y = g(h), in one pass.
_PULL_BACK: dict[str, Callable[..., Tensor]] = {
    "relu": lambda d, h, y, **out: torch.ops.aten.threshold_backward(d, h, 0, **out),
    "gelu": lambda d, h, y, **out: torch.ops.aten.gelu_backward(d, h, **out),
    "sigmoid": lambda d, h, y, **out: torch.ops.aten.sigmoid_backward(d, y, **out),
    "silu": lambda d, h, y, **out: torch.ops.aten.silu_backward(d, h, **out),
    "tanh": lambda d, h, y, **out: torch.ops.aten.tanh_backward(d, y, **out),
}


def forward(
    function: VAF,
    layout: Layout,
    x: Tensor,
    *parameters: Tensor,
    memory: Sequence[Tensor] = (),
    out: Tensor | None = None,
) -> Tensor:
    """Return f(x), as `keras_vaf.ops.gradient.plain_forward` does.

    Args:
        function: The function f.
        layout: Axes of the input. With a function for all elements, any shape of x.
        x: The input.
        *parameters: Parameters of f.
        memory: Memory for h_j. With it, the result has no gradient.
        out: Tensor for the result, of the shape and dtype of x.
    """
    alpha, alpha_bias, beta, beta_bias = _in_front(layout, parameters)
    buffer = _part(memory[0], layout, alpha, x) if memory else None
    hidden = _hidden_units(layout, x.to(alpha.dtype), alpha, alpha_bias, buffer)
    y = _values(function, hidden, buffer)
    return _sum_of_units(layout, beta, y, beta_bias, x, out)


def gradients(
    function: VAF,
    layout: Layout,
    upstream: Tensor,
    x: Tensor,
    *parameters: Tensor,
    memory: Sequence[Tensor],
    out: Tensor,
) -> tuple[Tensor, ...]:
    """Return the gradients of each parameter, and store that of the input in `out`.

    Args:
        function: The function f.
        layout: As for `forward`.
        upstream: Gradient of the loss with respect to f(x).
        x: The input.
        *parameters: Parameters of f.
        memory: Memory for h_j, and for g(h_j) if g is not homogeneous.
        out: Tensor for the gradient of the input.
    """
    alpha, alpha_bias, beta, _ = _in_front(layout, parameters)
    inputs, d = x.to(alpha.dtype), upstream.to(alpha.dtype)
    buffers = [_part(array, layout, alpha, x) for array in memory]
    hidden = _hidden_units(layout, inputs, alpha, alpha_bias, buffers[0])
    y = values_for_gradients(function, hidden, buffers[-1])

    def total(units: Tensor, values: Tensor | None = None) -> Tensor:
        """Return the sum of `units`, or of `units * values`, over all elements."""
        if values is not None and not layout.unshared:
            return torch.mv(units, values.reshape(-1)).unsqueeze(-1)
        shared = [axis for axis in range(1, alpha.ndim) if alpha.shape[axis] == 1]
        units = units if values is None else units * values
        return units.sum(shared, keepdim=True)

    homogeneous = elementwise(function.g).homogeneous
    for_beta = None if homogeneous else total(y, d)
    moved = _pulled_back(function, d, hidden, y)
    sum_0, sum_1 = total(moved), total(moved, inputs)
    if for_beta is None:
        for_beta = alpha * sum_1 + alpha_bias * sum_0
    _sum_of_units(layout, alpha * beta, moved, None, x, out)
    for_beta_bias = total(d.reshape(1, *hidden.shape[1:]))
    sums = (beta * sum_1, beta * sum_0, for_beta, for_beta_bias)
    pairs = zip(sums, parameters, strict=True)
    return tuple(s.movedim(0, -1).reshape_as(p) for s, p in pairs)


def _part(memory: Tensor, layout: Layout, alpha: Tensor, x: Tensor) -> Tensor:
    """Return the part of a memory that holds the hidden units of a piece."""
    elements = x.shape if layout.unshared else (x.numel(),)
    return memory[: len(alpha) * x.numel()].view(len(alpha), *elements)


def _hidden_units(
    layout: Layout, x: Tensor, alpha: Tensor, bias: Tensor, out: Tensor | None
) -> Tensor:
    """Return h_j = alpha_j x + bias_j, of shape `(k, *elements)`.

    With one function for all elements, all of them form one axis, so that products of
    matrices compute the sums. Without them, value and gradient of 524,288 elements take
    1.2 to 2.7 times the processor time.
    """
    if layout.unshared:
        return torch.addcmul(bias, alpha, x, out=out)
    row = x.reshape(1, -1)
    if x.numel() <= ONE_PRODUCT:
        return torch.addmm(bias, alpha, row, out=out)
    return torch.mul(alpha, row, out=out).add_(bias)


def _sum_of_units(
    layout: Layout,
    factors: Tensor,
    units: Tensor,
    bias: Tensor | None,
    like: Tensor,
    out: Tensor | None,
) -> Tensor:
    """Return the sum of `factors * units`, plus a constant, in the dtype of `like`."""
    direct = out if out is not None and out.dtype == units.dtype else None
    if layout.unshared:
        y = torch.sum(factors * units, 0, out=direct)
        y = y if bias is None else y.add_(bias)
    else:
        bias = factors.new_zeros(1, 1) if bias is None else bias
        y = torch.addmm(bias, factors.reshape(1, -1), units, out=direct)
    if out is None:
        return y.reshape(like.shape).to(like.dtype)
    return out if direct is not None else out.copy_(y)


def _values(function: VAF, hidden: Tensor, out: Tensor | None) -> Tensor:
    """Return g(h_j), in `out` if g is known."""
    value = _VALUE.get(name_of(function.g) or "")
    if value is None or out is None:
        return function.g(hidden)
    return value(hidden, out=out)


def values_for_gradients(
    function: VAF, hidden: Tensor, out: Tensor | None = None
) -> Tensor:
    """Return g(h_j), or h_j if the gradients do not need g.

    PyTorch computes tanh twice as fast by way of expm1. The result differs from that of
    `torch.tanh` by up to 3 units in the last place.
    """
    if elementwise(function.g).homogeneous:
        return hidden
    if name_of(function.g) != "tanh":
        return _values(function, hidden, out)
    # The limit avoids an overflow. The result is 1 in float64 before it.
    exponential = torch.mul(hidden, 2, out=out).clamp_(max=80).expm1_()
    return exponential.div_(exponential + 2)


def _pulled_back(function: VAF, d: Tensor, hidden: Tensor, y: Tensor) -> Tensor:
    """Return d g'(h_j), in place of the hidden units if g is known."""
    pull_back = _PULL_BACK.get(name_of(function.g) or "")
    if pull_back is None:
        return d * elementwise(function.g).slope(hidden, y)
    return pull_back(d.expand_as(hidden), hidden, y, grad_input=hidden)


def _in_front(layout: Layout, parameters: tuple[Tensor, ...]) -> list[Tensor]:
    """Give the parameters, of shape `(*unshared, k)`, the shape `(k, *elements)`."""
    if not layout.unshared:
        return [parameter.reshape(-1, 1) for parameter in parameters]
    found = []
    for parameter in parameters:
        extra = parameter.shape[len(layout.unshared) :]
        front = parameter.movedim(-1, 0) if extra else parameter
        found.append(front.reshape(*extra, *layout.aligned(parameter)).contiguous())
    return found
