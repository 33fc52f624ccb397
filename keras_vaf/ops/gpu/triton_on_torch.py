"""`kernel`, which computes a VAF and its gradients on PyTorch's GPUs, in Triton.

Hidden units are unrolled. A program of the gradient walks over many tiles, and keeps
running sums for each thread and parameter, which it reduces across threads at its end.
So x and the upstream gradient are read once, and equal calls give equal results.
"""

# Triton reads the annotations of kernels. Other functions take constants without them.
# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def _both(h, G):
    """Return g(h) and g'(h)."""
    if G == "relu" or G == "leaky_relu":
        y = tl.where(h <= 0, 0.0 if G == "relu" else 0.2 * h, h)
        slope = tl.where(h > 0, 1.0, 0.0 if G == "relu" else 0.2)
    elif G == "tanh":
        small = tl.exp(-2 * tl.abs(h))
        y = tl.where(h < 0, -1.0, 1.0) * (1 - small) / (1 + small)
        # Next to 0, where 1 - small has lost digits.
        series = h + h * h * h * (-0.33333333 + 0.13333333 * h * h)
        y = tl.where(small > 0.8, series, y)
        slope = 1 - y * y
    elif G == "sigmoid" or G == "silu":
        gate = 1 / (1 + tl.exp(-h))
        y = gate if G == "sigmoid" else h * gate
        slope = y * (1 - gate) + (0.0 if G == "sigmoid" else gate)
    elif G == "gelu":  # with erf of Abramowitz and Stegun, 7.1.26
        density = tl.exp(-0.5 * h * h)
        t = 1 / (1 + 0.23164190 * tl.abs(h))
        p = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
        tail = 0.5 * density * t * (0.254829592 + t * (-0.284496736 + p))
        below = tl.where(h < 0, tail, 1 - tail)
        y = h * below
        slope = below + h * density * 0.3989422804014327
    else:
        y = tl.sin(h)
        slope = tl.cos(h)
    return y, slope


@triton.jit
def _add(total, terms, BY_COLUMN):
    """Add the terms of a tile to running sums, each inside of its thread."""
    return total + (terms if BY_COLUMN else tl.sum(terms, 1))


@triton.jit
def kernel(
    d,
    x,
    out,
    sums,
    weight,
    columns,
    inner,
    limit,
    blocks,
    per,
    tiles,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    BY_COLUMN: tl.constexpr,
    K: tl.constexpr,
    G: tl.constexpr,
):
    """Store f(x) in `out`, or the gradients of x and of the weight.

    If the upstream gradient d is given, `out` is the gradient of x, and `sums` is the
    program's part of that of the weight. Otherwise both d and `sums` are `None`.
    """
    LINES: tl.constexpr = G == "relu" or G == "leaky_relu"  # g(h) = h g'(h)
    block = tl.program_id(0) % blocks
    first = tl.program_id(0) // blocks
    column = block * WIDTH + tl.arange(0, WIDTH)[None, :] if BY_COLUMN else block
    keep = column < columns
    function = (column // inner if BY_COLUMN else column).to(tl.int64)
    w = ()
    total = ()
    for i in tl.static_range(3 * K + 1):
        w += (tl.load(weight + function * (3 * K + 1) + i, mask=keep),)
        total += (tl.zeros((ROWS, WIDTH) if BY_COLUMN else (ROWS,), tl.float32),)
    stride = columns if BY_COLUMN else WIDTH
    within = tl.arange(0, ROWS)[:, None] * stride + tl.arange(0, WIDTH)[None, :]
    start = block.to(tl.int64) * (WIDTH if BY_COLUMN else inner)
    for t in range(first, tiles, tl.num_programs(0) // blocks):
        before = (t % per).to(tl.int64) * (ROWS * stride)
        place = (t // per).to(tl.int64) * columns * inner + start + before + within
        mask = within < limit - before
        if BY_COLUMN:
            mask &= keep
        v = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        result = tl.zeros((ROWS, WIDTH), tl.float32)
        if d is None:
            result += w[3 * K]
            for j in tl.static_range(K):
                result += w[2 * K + j] * _both(w[j] * v + w[K + j], G)[0]
        else:
            u = tl.load(d + place, mask=mask, other=0.0).to(tl.float32)
            new = ()
            for j in tl.static_range(K):
                y, slope = _both(w[j] * v + w[K + j], G)
                slope *= u
                result += w[j] * w[2 * K + j] * slope
                new += (_add(total[3 * j], slope, BY_COLUMN),)
                new += (_add(total[3 * j + 1], slope * v, BY_COLUMN),)
                third = total[3 * j + 2]
                new += (third if LINES else _add(third, u * y, BY_COLUMN),)
            new += (_add(total[3 * K], u, BY_COLUMN),)
            total = new
        tl.store(out + place, result.to(out.dtype.element_ty), mask=mask)
    if d is not None:
        to = sums + (first.to(tl.int64) * columns + column) * (3 * K + 1)
        for j in tl.static_range(K):
            sum0 = tl.sum(total[3 * j], 0, keep_dims=BY_COLUMN)
            sum1 = tl.sum(total[3 * j + 1], 0, keep_dims=BY_COLUMN)
            sum2 = tl.sum(total[3 * j + 2], 0, keep_dims=BY_COLUMN)
            if LINES:
                sum2 = w[j] * sum1 + w[K + j] * sum0
            tl.store(to + j, w[2 * K + j] * sum1, mask=keep)
            tl.store(to + K + j, w[2 * K + j] * sum0, mask=keep)
            tl.store(to + 2 * K + j, sum2, mask=keep)
        tl.store(to + 3 * K, tl.sum(total[3 * K], 0, keep_dims=BY_COLUMN), mask=keep)
