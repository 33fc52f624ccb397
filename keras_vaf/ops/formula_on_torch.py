"""`vaf_formula`, a VAF in PyTorch's operators."""

import torch

from keras_vaf.ops.equation import Layout
from keras_vaf.ops.functions_on_torch import G, function_of

Tensor = torch.Tensor


def vaf_formula(g: str | G, layout: Layout, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) in PyTorch's operators, of a packed weight or of four parameters.

    Programs hold the hidden units one by one, as compilers merge them. A Keras layer
    computes all units at once where this takes less time.
    """
    value, wide = function_of(g), torch.promote_types(x.dtype, parameters[0].dtype)
    same = x.dtype == parameters[0].dtype
    h, *parts = (x, *parameters) if same else [t.to(wide) for t in (x, *parameters)]
    recorded = torch.compiler.is_compiling() or torch.jit.is_tracing()
    few = 2**13 if x.ndim - 1 in layout.unshared else 2**15
    if len(parts) > 1 and not recorded and (not layout.unshared or x.numel() < few):
        return _all_units(value, layout, h, *parts).to(x.dtype)
    rows = [
        p.reshape(*layout.aligned(p), *(p.shape[len(layout.unshared) :] or (1,)))
        for p in parts
    ]
    if len(rows) == 1:
        rows = rows[0].split([rows[0].shape[-1] // 3] * 3 + [1], -1)
    *units, y = rows
    y = y.squeeze(-1)
    for a, b, w in zip(*[unit.unbind(-1) for unit in units], strict=True):
        y = y + w * value(a * h + b)
    return y.to(x.dtype)


def _all_units(g: G, layout: Layout, x: Tensor, *parameters: Tensor) -> Tensor:
    """Return f(x) of four parameters, whose hidden units form one more axis."""
    if not layout.unshared:  # products of matrices compute the sums
        alpha, alpha_bias, beta, beta_bias = [p.reshape(-1, 1) for p in parameters]
        device = "cpu" if x.is_meta else x.device.type
        with torch.autocast(device, enabled=False):  # it would round them to 16 bits
            hidden = g(torch.addmm(alpha_bias, alpha, x.reshape(1, -1)))
            return torch.addmm(beta_bias, beta.T, hidden).reshape(x.shape)
    *units, last = parameters
    alpha, alpha_bias, beta = [
        p.movedim(-1, 0).reshape(p.shape[-1], *layout.aligned(p)) for p in units
    ]
    hidden = g(torch.addcmul(alpha_bias, alpha, x))
    return (beta * hidden).sum(0) + last.reshape(layout.aligned(last))
