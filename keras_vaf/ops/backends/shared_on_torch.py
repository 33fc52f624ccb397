"""One VAF for all elements of an input, and its gradients, on eager PyTorch.

The order of the elements does not matter then. They are therefore taken in the order of
memory and cut into pieces of equal size. All pieces use the same memory for their
hidden units, so that it stays in the cache.
"""

from collections.abc import Iterator

import torch

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.backends.units_on_torch import (
    hidden_units,
    pulled_back,
    values,
    values_for_gradients,
)
from keras_vaf.ops.vaf import VAF


def forward(
    function: VAF, most: int, x: torch.Tensor, *parameters: torch.Tensor
) -> torch.Tensor:
    """Return f(x).

    Args:
        function: The function f.
        most: Largest number of elements of a piece.
        x: The input.
        *parameters: Parameters of f.
    """
    alpha, alpha_bias, beta, beta_bias = parameters
    y = torch.empty_like(x)
    memory = _memory(alpha, most, x)
    for inputs, result in _pieces(most, y, x, y):
        buffer = _units(memory, alpha, inputs)
        hidden = hidden_units(inputs.to(alpha.dtype), alpha, alpha_bias, buffer)
        _multiply(beta, values(function, hidden, buffer), beta_bias, result)
    return y


def gradients(
    function: VAF,
    most: int,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of the input and of each parameter."""
    alpha, alpha_bias, beta, beta_bias = parameters
    homogeneous = elementwise(function.g).homogeneous
    x_gradient = torch.empty_like(x)
    sum_0, sum_1, for_beta = alpha.new_zeros((3, *alpha.shape))
    for_beta_bias = torch.zeros_like(beta_bias)
    memory = _memory(alpha, most, x)
    other = memory if homogeneous else torch.empty_like(memory)
    for piece, upstream_piece, result in _pieces(
        most, x_gradient, x, upstream, x_gradient
    ):
        inputs, d = piece.to(alpha.dtype), upstream_piece.to(alpha.dtype)
        hidden = hidden_units(inputs, alpha, alpha_bias, _units(memory, alpha, inputs))
        y = values_for_gradients(function, hidden, _units(other, alpha, inputs))
        if not homogeneous:
            for_beta.addmv_(y, d.view(-1))
        moved = pulled_back(function, d, hidden, y, in_place=True)
        sum_0 += moved.sum(1)
        sum_1.addmv_(moved, inputs.view(-1))
        for_beta_bias += d.sum()
        _multiply(alpha * beta, moved, torch.zeros_like(beta_bias), result)
    if homogeneous:
        for_beta = torch.addcmul(alpha * sum_1, alpha_bias, sum_0)
    return x_gradient, beta * sum_1, beta * sum_0, for_beta, for_beta_bias


def _memory(alpha: torch.Tensor, most: int, x: torch.Tensor) -> torch.Tensor:
    """Return memory for the hidden units of the largest piece."""
    return alpha.new_empty(alpha.numel() * min(most, x.numel()))


def _units(
    memory: torch.Tensor, alpha: torch.Tensor, piece: torch.Tensor
) -> torch.Tensor:
    """Return the part of a memory that holds the hidden units of a piece."""
    shape = alpha.numel(), piece.numel()
    return memory[: shape[0] * shape[1]].view(shape)


def _pieces(
    most: int, like: torch.Tensor, *tensors: torch.Tensor
) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield pieces of tensors, of shape `(1, elements)`, in the order of `like`."""
    flat = (_flat(tensor, like) for tensor in tensors)
    return zip(*(tensor.split(most, dim=1) for tensor in flat), strict=True)


def _flat(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return the elements of a tensor in the order in which `like` stores its own.

    The tensor `like` has no gaps in memory.
    """
    if tensor.stride() != like.stride():
        tensor = torch.empty_like(like, dtype=tensor.dtype).copy_(tensor)
    return tensor.as_strided((1, tensor.numel()), (tensor.numel(), 1))


def _multiply(
    row: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor, result: torch.Tensor
) -> None:
    """Store `row @ matrix + bias`, rounded to the dtype of the result."""
    bias, row = bias.reshape(1, 1), row[None]
    if result.dtype == matrix.dtype:
        torch.addmm(bias, row, matrix, out=result)
    else:
        result.copy_(torch.addmm(bias, row, matrix))
