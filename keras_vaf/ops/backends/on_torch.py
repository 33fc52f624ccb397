"""`apply`, the operation on PyTorch, eager or compiled.

Eager PyTorch runs each operation as a separate pass over memory. On a CPU the input is
therefore cut into pieces that stay in the cache between the passes. `torch.compile`
fuses the passes, and computes again the values that the gradient needs.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, TypeGuard

import torch

from keras_vaf.ops.backends import shared_on_torch, units_on_torch
from keras_vaf.ops.backends.choice import is_small
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import Case
from keras_vaf.ops.native import on_torch as native
from keras_vaf.ops.native import operators_on_torch as operators
from keras_vaf.ops.vaf import VAF
from keras_vaf.ops.vjp import vjp

PIECE = 786_432
"""Elements of a piece times hidden units. All cores work on the same piece."""
ON_ACCELERATOR = 16_777_216
"""The same for accelerators, where memory is the limit instead of the cache."""

Slices = tuple[slice, ...]


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> torch.Tensor:
    """Return f(x, *parameters), whose gradient stores only x, unless x is small."""
    if torch.jit.is_tracing():
        return forward(function, layout, x, *parameters)
    case = native.covered(function, layout, x, *parameters)
    if torch.compiler.is_compiling():
        if case is not None and operators.usable():
            return operators.apply(case, x, *parameters)
        return forward(function, layout, x, *parameters)
    if is_small(function, x.shape, parameters, covered=case is not None):
        return units_on_torch.forward(function, layout, x, *parameters)
    if torch._C._are_functorch_transforms_active():
        return _Transformed.apply(function, layout, case, x, *parameters)
    return _Apply.apply(function, layout, case, x, *parameters)


class _Derivatives(torch.autograd.Function):
    """The derivatives, which both forms of the operation use."""

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        function, layout, tensors = ctx.function, ctx.layout, ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient is differentiated again
            found = _plain_gradients(function, layout, upstream, *tensors)
        else:
            found = _gradients(function, layout, ctx.case, upstream, *tensors)
        return None, None, None, *found

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> torch.Tensor:
        plain = functools.partial(forward, ctx.function, ctx.layout)
        primals = ctx.saved_tensors
        tangents = tuple(
            torch.zeros_like(p) if t is None else t
            for p, t in zip(primals, tangents[3:], strict=True)
        )

        def pull_back(upstream: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return vjp(plain, primals, upstream)

        # PyTorch cannot nest forward mode, so this is the gradient of a gradient.
        (tangent,) = vjp(pull_back, (torch.zeros_like(primals[0]),), tangents)
        return tangent


class _Apply(_Derivatives):
    @staticmethod
    def forward(
        ctx: Any,
        function: Pointwise,
        layout: Layout,
        case: Case | None,
        x: torch.Tensor,
        *parameters: torch.Tensor,
    ) -> torch.Tensor:
        _keep(ctx, function, layout, case, x, *parameters)
        return _forward(function, layout, case, x, *parameters)


class _Transformed(_Derivatives):
    """The operation inside `torch.func`. Calls of this form take longer."""

    @staticmethod
    def forward(
        function: Pointwise,
        layout: Layout,
        case: Case | None,
        x: torch.Tensor,
        *parameters: torch.Tensor,
    ) -> torch.Tensor:
        return _forward(function, layout, case, x, *parameters)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        _keep(ctx, *inputs)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: Any, layout: Any, *rest: Any
    ) -> tuple[torch.Tensor, int]:
        plain = functools.partial(forward, function, layout)
        return torch.vmap(plain, in_dims[3:])(*rest[1:]), 0


def _keep(ctx: Any, function: Any, layout: Any, case: Any, *tensors: Any) -> None:
    ctx.function, ctx.layout, ctx.case = function, layout, case
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def _forward(
    function: Pointwise,
    layout: Layout,
    case: Case | None,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> torch.Tensor:
    if case is not None and native.in_memory(x, *parameters):
        return native.forward(case, x, *parameters)
    if _is_shared(function, layout, x):
        most = _elements_of_a_piece(function, x, parameters[0])
        return shared_on_torch.forward(function, most, x, *parameters)
    compute = functools.partial(forward, function, layout)
    if isinstance(function, VAF):
        compute = functools.partial(units_on_torch.forward, function, layout)
    pieces = list(_pieces(function, layout, x, parameters[0]))
    if len(pieces) == 1:
        return compute(x, *parameters)
    y = torch.empty_like(x)
    for piece, own in pieces:
        y[piece] = compute(x[piece], *(p[own] for p in parameters))
    return y


def _is_shared(
    function: Pointwise, layout: Layout, tensor: torch.Tensor
) -> TypeGuard[VAF]:
    """Return whether one VAF serves all elements, and no `vmap` is active.

    Tensors of `torch.func`, or of `is_grads_batched=True`, have no order in memory.
    """
    if torch._C._are_functorch_transforms_active():
        return False
    if torch._C._functorch.is_legacy_batchedtensor(tensor):
        return False
    return isinstance(function, VAF) and not layout.unshared


def _elements_of_a_piece(
    function: Pointwise, x: torch.Tensor, parameter: torch.Tensor
) -> int:
    most = PIECE if x.device.type == "cpu" else ON_ACCELERATOR
    return max(1, most // parameter.shape[-1]) if isinstance(function, VAF) else most


def _pieces(
    function: Pointwise, layout: Layout, x: torch.Tensor, parameter: torch.Tensor
) -> Iterator[tuple[Slices, Slices]]:
    """Yield the slices of x and the slices of all parameters for each piece."""
    most = _elements_of_a_piece(function, x, parameter)
    steps = list(x.shape)
    for axis in _cutting_order(layout, x.shape, most):
        if math.prod(steps) <= most:
            break
        steps[axis] = max(1, most * steps[axis] // math.prod(steps))
    for piece in itertools.product(
        *(
            [slice(start, start + step) for start in range(0, size, max(1, step))]
            for size, step in zip(x.shape, steps, strict=True)
        )
    ):
        yield piece, tuple(piece[axis] for axis in layout.unshared)


def _cutting_order(layout: Layout, shape: torch.Size, most: int) -> list[int]:
    """Return the axes in the order in which they are cut.

    If there are many functions, the unshared axes come first, so that a piece has few.
    """
    functions = math.prod(shape[axis] for axis in layout.unshared)
    many = 8 * functions > most
    return sorted(range(layout.rank), key=lambda a: many and a not in layout.unshared)


def _gradients(
    function: Pointwise,
    layout: Layout,
    case: Case | None,
    upstream: torch.Tensor,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter, computed piece by piece."""
    if case is not None and native.in_memory(upstream, x, *parameters):
        return native.gradients(case, upstream, x, *parameters)
    if _is_shared(function, layout, upstream):
        most = _elements_of_a_piece(function, x, parameters[0])
        return shared_on_torch.gradients(function, most, upstream, x, *parameters)
    compute = functools.partial(_plain_gradients, function, layout)
    if isinstance(function, VAF) and layout.unshared:
        compute = functools.partial(units_on_torch.gradients, function, layout)
    pieces = list(_pieces(function, layout, x, parameters[0]))
    if len(pieces) == 1:
        return compute(upstream, x, *parameters)
    x_gradient = torch.empty_like(upstream)  # with the batch axis of a vmap over it
    totals = [upstream.new_zeros(p.shape, dtype=p.dtype) for p in parameters]
    for piece, own in pieces:
        x_gradient[piece], *found = compute(
            upstream[piece], x[piece], *(p[own] for p in parameters)
        )
        for total, part in zip(totals, found, strict=True):
            total[own].add_(part)
    return x_gradient, *totals


def _plain_gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    *arguments: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the same gradients, computed at once, in a differentiable form."""
    compute = functools.partial(forward, function, layout)
    if isinstance(function, VAF):
        compute = functools.partial(units_on_torch.forward, function, layout)
    if torch._C._are_functorch_transforms_active() or not torch.is_grad_enabled():
        return vjp(compute, arguments, upstream)
    # The caller needs the gradients of all arguments, also of frozen ones.
    arguments = tuple(a if a.requires_grad else a.requires_grad_() for a in arguments)
    return torch.autograd.grad(
        compute(*arguments), arguments, upstream, create_graph=True
    )
