"""`forward` and `gradients`, the kernels of PyTorch's GPUs, in Triton.

An input is read as rows of columns. Each program computes a block of columns in some of
the rows, all hidden units at once. Sums are added up in registers, a row at a time, and
PyTorch adds those of the programs. So x and the upstream gradient are read once.

Importing this module needs Triton, which PyTorch installs with CUDA.
"""

# Triton reads the annotations of kernels.
# mypy: disallow-untyped-defs=false, disallow-incomplete-defs=false

import functools
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from keras_vaf.ops.native.case import FUNCTIONS, Case

BLOCK = 2048
"""Columns of a program times hidden units."""
PROGRAMS = 8
"""Programs for each multiprocessor."""


@triton.jit
def _value(h, G: tl.constexpr, SLOPE: tl.constexpr):
    """Return g(h)."""
    if G == "leaky_relu":
        if SLOPE == 0:  # noqa: SIM108  # 0 times infinity is NaN
            y = tl.where(h <= 0, 0.0, h)
        else:
            y = tl.where(h <= 0, SLOPE * h, h)
    elif G == "tanh":
        small = tl.exp(-2 * tl.abs(h))
        size = (1 - small) / (1 + small)
        y = tl.where(h < 0, -size, size)
    elif G == "sigmoid":
        y = 1 / (1 + tl.exp(-h))
    elif G == "silu":
        y = h / (1 + tl.exp(-h))
    elif G == "gelu":
        y = 0.5 * h * (1 + tl.erf(h * 0.7071067811865476))
    else:
        y = tl.sin(h)
    return y


@triton.jit
def _slope(h, y, G: tl.constexpr, SLOPE: tl.constexpr):
    """Return g'(h), where y is g(h)."""
    if G == "leaky_relu":
        slope = tl.where(h > 0, 1.0, SLOPE)
    elif G == "tanh":
        slope = 1 - y * y
    elif G == "sigmoid":
        slope = y * (1 - y)
    elif G == "silu":
        gate = 1 / (1 + tl.exp(-h))
        slope = gate + y * (1 - gate)
    elif G == "gelu":
        below = 0.5 * (1 + tl.erf(h * 0.7071067811865476))
        slope = below + h * tl.exp(-0.5 * h * h) * 0.3989422804014327
    else:
        slope = tl.cos(h)
    return slope


@triton.jit
def _units(
    of, column, columns, inner, K: tl.constexpr, KP: tl.constexpr, SHARED: tl.constexpr
):
    """Return a parameter of all hidden units, `(KP, 1)` or `(KP, columns)`."""
    j = tl.arange(0, KP)[:, None]
    if SHARED:
        found = tl.load(of + j, mask=j < K, other=0.0)
    else:
        mask = (j < K) & (column < columns)[None, :]
        found = tl.load(of + (column // inner)[None, :] * K + j, mask=mask, other=0.0)
    return found


@triton.jit
def _sum(terms, K: tl.constexpr, KP: tl.constexpr):
    """Return the sum over the hidden units. Those that fill up may be 0 times NaN."""
    if K < KP:
        terms = tl.where(tl.arange(0, KP)[:, None] < K, terms, 0.0)
    return tl.sum(terms, axis=0)


@triton.jit
def _put(
    to, found, column, columns, K: tl.constexpr, KP: tl.constexpr, SHARED: tl.constexpr
):
    """Store sums of K units, `(K,)` or `(K, columns)`."""
    j = tl.arange(0, KP)[:, None]
    if SHARED:
        tl.store(to + j, tl.sum(found, axis=1)[:, None], mask=j < K)
    else:
        mask = (j < K) & (column < columns)[None, :]
        tl.store(to + j * columns + column[None, :], found, mask=mask)


@triton.jit
def _forward(
    x,
    y,
    alpha,
    alpha_bias,
    beta,
    beta_bias,
    size,
    columns,
    inner,
    rows,
    G: tl.constexpr,
    SLOPE: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    SHARED: tl.constexpr,
    WIDTH: tl.constexpr,
):
    wide = tl.zeros((1,), tl.int64) + columns
    column = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH).to(tl.int64)
    a = _units(alpha, column, columns, inner, K, KP, SHARED)
    b = _units(alpha_bias, column, columns, inner, K, KP, SHARED)
    w = _units(beta, column, columns, inner, K, KP, SHARED)
    if SHARED:
        c = tl.load(beta_bias)
    else:
        c = tl.load(beta_bias + column // inner, mask=column < columns, other=0.0)
    for row in range(tl.program_id(1), rows, tl.num_programs(1)):
        place = row * wide + column
        mask = (column < columns) & (place < size)
        own = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        h = a * own[None, :] + b
        f = _sum(w * _value(h, G, SLOPE), K, KP) + c
        tl.store(y + place, f.to(y.dtype.element_ty), mask=mask)


@triton.jit
def _backward(
    d,
    x,
    d_x,
    sums,
    alpha,
    alpha_bias,
    beta,
    size,
    columns,
    inner,
    rows,
    G: tl.constexpr,
    SLOPE: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    SHARED: tl.constexpr,
    WIDTH: tl.constexpr,
):
    wide = tl.zeros((1,), tl.int64) + columns
    column = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH).to(tl.int64)
    a = _units(alpha, column, columns, inner, K, KP, SHARED)
    b = _units(alpha_bias, column, columns, inner, K, KP, SHARED)
    w = _units(beta, column, columns, inner, K, KP, SHARED)
    slopes = tl.zeros((KP, WIDTH), tl.float32)
    slopes_x = tl.zeros((KP, WIDTH), tl.float32)
    values = tl.zeros((KP, WIDTH), tl.float32)
    total = tl.zeros((WIDTH,), tl.float32)
    for row in range(tl.program_id(1), rows, tl.num_programs(1)):
        place = row * wide + column
        mask = (column < columns) & (place < size)
        own = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        up = tl.load(d + place, mask=mask, other=0.0).to(tl.float32)
        h = a * own[None, :] + b
        g = _value(h, G, SLOPE)
        slope = _slope(h, g, G, SLOPE)
        d_own = up * _sum(a * w * slope, K, KP)
        tl.store(d_x + place, d_own.to(d_x.dtype.element_ty), mask=mask)
        slope *= up[None, :]
        slopes += slope
        slopes_x += slope * own[None, :]
        if G != "leaky_relu":
            values += up[None, :] * g
        total += up
    if G == "leaky_relu":  # g(h) = h g'(h)
        values = a * slopes_x + b * slopes
    outputs = 1 if SHARED else columns
    to = sums + tl.program_id(1).to(tl.int64) * (3 * K + 1) * outputs
    _put(to, w * slopes_x, column, columns, K, KP, SHARED)
    _put(to + K * outputs, w * slopes, column, columns, K, KP, SHARED)
    _put(to + 2 * K * outputs, values, column, columns, K, KP, SHARED)
    _put(to + 3 * K * outputs, total[None, :], column, columns, 1, 1, SHARED)


class _Plan(NamedTuple):
    """The division of a call among programs, and the arguments of both kernels."""

    grid: tuple[int, int]
    sizes: tuple[int, int, int, int]
    settings: dict[str, Any]
    outputs: tuple[int, int]  # functions, and columns of each


@functools.lru_cache(maxsize=1024)
def _plan(case: Case, shape: torch.Size, multiprocessors: int) -> _Plan:
    outer, units, inner = case.sizes(shape)
    size, shared = outer * units * inner, units == 1
    padded = triton.next_power_of_2(case.k)
    width = min(1024, max(128, BLOCK // padded))
    if shared:
        columns, rows = width, triton.cdiv(size, width)
    else:
        columns, rows = units * inner, outer
        width = min(width, triton.next_power_of_2(columns))
    blocks = triton.cdiv(columns, width)
    splits = min(rows, max(1, PROGRAMS * multiprocessors // blocks))
    g, slope = FUNCTIONS[case.g]
    settings = {"G": g, "SLOPE": slope, "K": case.k, "KP": padded}
    settings |= {"SHARED": shared, "WIDTH": width}
    outputs = (1, 1) if shared else (units, inner)
    return _Plan((blocks, splits), (size, columns, inner, rows), settings, outputs)


def _plan_of(case: Case, x: torch.Tensor) -> _Plan:
    device = torch.cuda.get_device_properties(x.device) if x.is_cuda else None
    return _plan(case, x.shape, device.multi_processor_count if device else 1)


def forward(case: Case, x: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
    """Return f(x).

    Args:
        case: Case of the call.
        x: The input, dense in memory.
        *parameters: Dense parameters, as in `keras_vaf.ops.pointwise`.
    """
    y = torch.empty_like(x)
    if x.numel():
        grid, sizes, settings, _ = _plan_of(case, x)
        with torch.cuda.device_of(x):
            _forward[grid](x, y, *parameters, *sizes, **settings)
    return y


def gradients(
    case: Case, upstream: torch.Tensor, x: torch.Tensor, *parameters: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of x and of each parameter; the arguments are dense."""
    d_x = torch.empty_like(x)
    if not x.numel():
        return d_x, *map(torch.zeros_like, parameters)
    grid, sizes, settings, (units, columns) = _plan_of(case, x)
    alpha, alpha_bias, beta, beta_bias = parameters
    sums = alpha.new_empty(grid[1], 3 * case.k + 1, units, columns)
    given = upstream, x, d_x, sums, alpha, alpha_bias, beta
    with torch.cuda.device_of(x):
        _backward[grid](*given, *sizes, **settings)
    *found, total = sums.sum((0, 3)).split([case.k] * 3 + [1])
    shaped = (part.T.reshape(alpha.shape) for part in found)
    return d_x, *shaped, total.reshape(beta_bias.shape)
