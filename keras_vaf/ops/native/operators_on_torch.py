"""The native kernels as operators of PyTorch, for `torch.compile`.

The operators can be differentiated any number of times, and support `torch.func.vmap`.
The kernels compute the first gradient, and the plain formula all further ones.
"""

import functools
from typing import Any

import torch

from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import modes_on_torch as modes
from keras_vaf.ops.native import on_torch
from keras_vaf.ops.native.case import FUNCTIONS, TYPES, Case
from keras_vaf.ops.vaf import VAF
from keras_vaf.ops.vjp import vjp

Tensor = torch.Tensor
_INPUTS = (
    "Tensor x, Tensor alpha, Tensor alpha_bias, Tensor beta, Tensor beta_bias, "
    "str g, int[] unshared, int networks"
)


def usable() -> bool:
    """Return whether the program that is compiled may contain the operators.

    An exported program may run where the kernels are missing. `torch.func` and forward
    mode do not support operators that are differentiated by Python code.
    """
    # PyTorch 2.6 cannot tell exports apart, so it always compiles plain operators.
    exports = getattr(torch.compiler, "is_exporting", lambda: True)
    return not exports() and not modes.transforming()


def apply(case: Case, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x)."""
    y: Tensor = _forward(x, *parameters, case.g, list(case.unshared), 0)
    return y


def _case(g: str, unshared: list[int], *tensors: Tensor) -> Case:
    """Return the case of a call of an operator, whose arguments may be any.

    The library compares the sizes of the tensors. This function checks the rest.
    """
    *upstream, x, alpha, alpha_bias, beta, beta_bias = tensors
    dtypes = {t.dtype for t in (alpha, alpha_bias, beta, beta_bias)}
    if (
        g not in FUNCTIONS
        or x.dtype not in on_torch.DTYPES
        or any(d.dtype != x.dtype for d in upstream)
        or dtypes != {torch.float32}
        or alpha.ndim == 0
    ):
        raise RuntimeError(
            f"The native kernels need g of {', '.join(FUNCTIONS)}, float32 parameters "
            f"and an input of {', '.join(TYPES)}. Received: g={g!r}, dtypes "
            f"{[tensor.dtype for tensor in tensors]}"
        )
    return Case(g, on_torch.DTYPES[x.dtype], alpha.shape[-1], tuple(unshared))


@torch.library.custom_op(
    "keras_vaf::forward", mutates_args=(), schema=f"({_INPUTS}) -> Tensor"
)
def _forward(*inputs: Any) -> Tensor:
    *tensors, g, unshared, networks = inputs
    if modes.carries_tangents():  # PyTorch would silently drop them
        raise RuntimeError(
            "This program was compiled with native kernels, which have no forward "
            "mode. Compile it inside `with keras_vaf.ops.plain_operators():`."
        )
    case = _case(g, unshared, *tensors)
    return on_torch.forward(case, *tensors, networks=networks)


@torch.library.custom_op(
    "keras_vaf::backward",
    mutates_args=(),
    schema=f"(Tensor upstream, {_INPUTS}) -> ({', '.join(['Tensor'] * 5)})",
)
def _backward(*inputs: Any) -> tuple[Tensor, ...]:
    *tensors, g, unshared, networks = inputs
    case = _case(g, unshared, *tensors)
    return on_torch.gradients(case, *tensors, networks=networks)


def _fake_forward(x: Tensor, *_: Any) -> Tensor:
    return on_torch.empty_gradients(x)[0]


def _fake_backward(upstream: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    return on_torch.empty_gradients(*rest[:5])


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    *tensors, ctx.g, ctx.unshared, ctx.networks = inputs
    ctx.save_for_backward(*tensors)


def _pull_back(ctx: Any, upstream: Tensor) -> tuple[Any, ...]:
    rest = (ctx.g, ctx.unshared, ctx.networks)
    return *_backward(upstream, *ctx.saved_tensors, *rest), None, None, None


def _pull_back_gradients(ctx: Any, *upstream: Tensor) -> tuple[Any, ...]:
    tensors = ctx.saved_tensors
    layout = Layout(tensors[1].ndim - ctx.networks, tuple(ctx.unshared))
    plain: Any = functools.partial(plain_forward, VAF(BY_NAME[ctx.g].value), layout)
    for _ in range(ctx.networks):
        plain = torch.vmap(plain)

    def first(upstream: Tensor, *arguments: Tensor) -> tuple[Tensor, ...]:
        return vjp(plain, arguments, upstream)

    return *vjp(first, tensors, upstream), None, None, None


def _map(operator: Any, info: Any, in_dims: tuple[Any, ...], *inputs: Any) -> Any:
    """Call an operator for several networks, whose axis comes first."""
    *tensors, g, unshared, networks = inputs
    moved = [
        tensor.expand(info.batch_size, *tensor.shape)
        if axis is None
        else tensor.movedim(axis, 0)
        for tensor, axis in zip(tensors, in_dims, strict=False)
    ]
    results = operator(*moved, g, unshared, networks + 1)
    return results, (0 if isinstance(results, Tensor) else (0,) * len(results))


_forward.register_fake(_fake_forward)
_forward.register_autograd(_pull_back, setup_context=_keep)
_forward.register_vmap(functools.partial(_map, _forward))
_backward.register_fake(_fake_backward)
_backward.register_autograd(_pull_back_gradients, setup_context=_keep)
_backward.register_vmap(functools.partial(_map, _backward))
