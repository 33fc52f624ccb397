"""`apply`, which computes a VAF with one packed weight.

Kernels compute what they take. Programs that are compiled, exported or transformed
consist of the formula; on a GPU a kernel computes their gradient.
"""

import functools

import torch

from keras_vaf.ops import VAF as Equation
from keras_vaf.ops import on_torch as ways
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.gpu import on_torch as gpu
from keras_vaf.ops.modes_on_torch import in_memory
from keras_vaf.torch.functions import G, of_package, on_torch

Tensor = torch.Tensor


def apply(x: Tensor, weight: Tensor, g: str | G, axes: tuple[int, ...]) -> Tensor:
    """Return f(x) in the dtype of x, computed in float32 at least.

    The weight has one row of 3k + 1 numbers for each function along axes of x.
    """
    layout = Layout(x.ndim, tuple([axis % x.ndim for axis in axes]))
    plain = functools.partial(formula, on_torch(g))
    if isinstance(g, str) and gpu.takes(x, weight, g, layout.unshared):
        packed = functools.partial(ways.packed, plain, layout)
        return gpu.apply(x, weight, g, layout.unshared, packed)
    wide = torch.promote_types(weight.dtype, torch.float32)
    parts = ways.split(weight.to(wide))
    recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if recorded or not in_memory(x, weight):
        return plain(layout, x, *parts)
    return ways.eager(Equation(of_package(g)), layout, plain, x, *parts)


def formula(g: G, layout: Layout, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) in PyTorch's operators."""
    wide = torch.promote_types(x.dtype, parameters[0].dtype)
    *units, y = (p.to(wide).reshape(*layout.aligned(p), -1) for p in parameters)
    h, y = x.to(wide), y.squeeze(-1)
    for a, b, w in zip(*(each.unbind(-1) for each in units), strict=True):
        y = y + w * g(a * h + b)
    return y.to(x.dtype)
