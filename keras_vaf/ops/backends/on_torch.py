"""`apply`, the operation on PyTorch, eager or compiled.

Eager PyTorch runs each operation as a separate pass over memory. On a CPU the input is
therefore cut into pieces that stay in the cache between the passes. `torch.compile`
fuses the passes, and computes again the values that the gradient needs.
"""

import functools
from typing import Any

import torch

from keras_vaf.ops.backends import pieces_on_torch, units_on_torch
from keras_vaf.ops.backends.choice import MOST_KEPT, is_small
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import Case
from keras_vaf.ops.native import modes_on_torch as modes
from keras_vaf.ops.native import on_torch as native
from keras_vaf.ops.native import operators_on_torch as operators
from keras_vaf.ops.vaf import VAF
from keras_vaf.ops.vjp import vjp


def apply(
    function: Pointwise,
    layout: Layout,
    training: bool,
    x: torch.Tensor,
    *parameters: torch.Tensor,
) -> torch.Tensor:
    """Return f(x, *parameters), and keep few tensors of its size for the gradient."""
    if torch.jit.is_tracing() or modes.transforming():
        return plain_forward(function, layout, x, *parameters)
    case = native.covered(function, layout, x, *parameters)
    if torch.compiler.is_compiling():
        if case is not None and operators.usable():
            return operators.apply(case, x, *parameters)
        return plain_forward(function, layout, x, *parameters)
    if case is None and is_small(function, x.shape, parameters):
        return units_on_torch.forward(function, layout, x, *parameters)
    if _keeps_few(function, layout, *parameters):
        return plain_forward(function, layout, x, *parameters)
    order = [] if case is None else _order_of_memory(layout, x)
    if order:
        place = [order.index(axis) for axis in range(layout.rank)]
        moved = Layout(layout.rank, tuple(place[axis] for axis in layout.unshared))
        y = apply(function, moved, training, x.permute(order), *parameters)
        return y.permute(place)
    return _Recomputed.apply(function, layout, case, x, *parameters)


def _order_of_memory(layout: Layout, x: torch.Tensor) -> list[int]:
    """Return the axes in the order in which a dense input stores its numbers.

    The list is empty for the usual order, which the kernels need, and if parameters
    differ along several axes, whose order they share.
    """
    if x.is_contiguous() or len(layout.unshared) > 1:
        return []
    order = sorted(range(x.ndim), key=x.stride, reverse=True)
    return order if x.permute(order).is_contiguous() else []


class _Recomputed(torch.autograd.Function):
    """f(x), whose gradient stores only x and the parameters."""

    @staticmethod
    def forward(
        ctx: Any,
        function: Pointwise,
        layout: Layout,
        case: Case | None,
        x: torch.Tensor,
        *parameters: torch.Tensor,
    ) -> torch.Tensor:
        ctx.function, ctx.layout, ctx.case = function, layout, case
        ctx.save_for_backward(x, *parameters)
        if case is not None and modes.in_memory(x, *parameters):
            return native.forward(case, x, *parameters)
        return pieces_on_torch.forward(function, layout, x, *parameters)

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        tensors = (upstream, *ctx.saved_tensors)
        mapped = modes.is_batched(upstream) or modes.transforming()
        if mapped or torch.is_grad_enabled():
            found = _framework_gradients(ctx.function, ctx.layout, *tensors)
        elif ctx.case is not None and modes.in_memory(*tensors):
            found = native.gradients(ctx.case, *tensors)
        else:
            found = pieces_on_torch.gradients(ctx.function, ctx.layout, *tensors)
        return None, None, None, *found


def _framework_gradients(
    function: Pointwise,
    layout: Layout,
    upstream: torch.Tensor,
    *arguments: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Return the gradients in a form that can be differentiated or mapped."""
    compute = functools.partial(plain_forward, function, layout)
    if isinstance(function, VAF):
        compute = functools.partial(units_on_torch.forward, function, layout)
    if not torch.is_grad_enabled() or modes.transforming():
        return vjp(compute, arguments, upstream)
    # The caller needs the gradients of all arguments, also of frozen ones.
    arguments = tuple(a if a.requires_grad else a.requires_grad_() for a in arguments)
    return torch.autograd.grad(
        compute(*arguments), arguments, upstream, create_graph=True
    )


def _keeps_few(function: Pointwise, layout: Layout, *parameters: torch.Tensor) -> bool:
    if isinstance(function, VAF):
        return False
    return kept(function, layout, *[tuple(p.shape) for p in parameters]) <= MOST_KEPT


@functools.lru_cache(maxsize=256)
def kept(function: Pointwise, layout: Layout, *shapes: tuple[int, ...]) -> float:
    """Return how many tensors of the size of x PyTorch keeps for the gradient.

    Args:
        function: The function f.
        layout: Axes of the input.
        *shapes: Shape of each parameter.
    """
    few = [1] * len(layout.unshared)  # one function is enough
    tensors = [torch.ones((*few, *shape[len(few) :])) for shape in shapes]
    x = torch.full([64, *[1] * (layout.rank - 1)], 0.5)
    sizes = {}
    with (
        torch.enable_grad(),
        torch.autograd.graph.saved_tensors_hooks(
            lambda t: sizes.update({t.data_ptr(): t.nbytes}) or t, lambda t: t
        ),
    ):
        leaves = [tensor.requires_grad_() for tensor in (x, *tensors)]
        y = plain_forward(function, layout, *leaves)
    del y
    return sum(size for size in sizes.values() if size >= 64) / x.nbytes
