"""`kernel`, which computes a VAF and its gradients on PyTorch's GPUs, in Triton.

Hidden units are unrolled. A program of the gradient walks over many tiles, and keeps
running sums for each thread and parameter. It reduces them across threads once, at its
end. PyTorch adds the sums of all programs. So x and the upstream gradient are read
once, and equal calls give equal results.

Importing this module needs Triton, which PyTorch installs with CUDA.
"""

# Triton reads the annotations of kernels. Other functions take constants without them.
# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def _both(h, G, FAST):
    """Return g(h) and g'(h)."""
    if G == "relu":
        y = tl.where(h <= 0, 0.0, h)
        slope = tl.where(h > 0, 1.0, 0.0)
    elif G == "leaky_relu":
        y = tl.where(h <= 0, 0.2 * h, h)
        slope = tl.where(h > 0, 1.0, 0.2)
    elif G == "tanh":
        small = tl.exp(-2 * tl.abs(h))
        size = (1 - small) / (1 + small)
        y = tl.where(h < 0, -size, size)
        slope = 1 - y * y
    elif G == "sigmoid":
        y = 1 / (1 + tl.exp(-h))
        slope = y * (1 - y)
    elif G == "silu":
        gate = 1 / (1 + tl.exp(-h))
        y = h * gate
        slope = gate + y * (1 - gate)
    elif G == "gelu":
        density = tl.exp(-0.5 * h * h)
        if FAST:  # Abramowitz and Stegun, 7.1.26: an error below that of half precision
            t = 1 / (1 + 0.23164190 * tl.abs(h))
            p = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
            tail = 0.5 * density * t * (0.254829592 + t * (-0.284496736 + p))
            below = tl.where(h < 0, tail, 1 - tail)
        else:
            below = 0.5 * (1 + tl.erf(h * 0.7071067811865476))
        y = h * below
        slope = below + h * density * 0.3989422804014327
    else:
        y = tl.sin(h)
        slope = tl.cos(h)
    return y, slope


# PyTorch follows pointers to see what a kernel writes, and mixes the results of a call.
# This function has no pointer, so that compiled programs do not copy the weight.
@triton.jit
def _share(outer, units, inner, ROWS, WIDTH, COLUMNS):
    """Return this program's columns or unit, which exist, and its tiles as a range."""
    if COLUMNS:
        blocks = tl.cdiv(units * inner, WIDTH)
        tiles = tl.cdiv(outer, ROWS)
        column = tl.program_id(0) % blocks * WIDTH + tl.arange(0, WIDTH)[None, :]
        keep = column < units * inner
    else:
        blocks = units
        tiles = outer * tl.cdiv(inner, ROWS * WIDTH)
        column = tl.program_id(0) % blocks
        keep = column < units
    first = tl.program_id(0) // blocks
    return column, keep, first, tiles, tl.num_programs(0) // blocks


@triton.jit
def _weights(weight, column, keep, inner, K, COLUMNS):
    """Return alpha, alpha_bias and beta of each hidden unit, and beta_bias."""
    unit = column // inner if COLUMNS else column
    place = weight + unit.to(tl.int64) * (3 * K + 1)
    a = ()
    b = ()
    w = ()
    for j in tl.static_range(K):
        a += (tl.load(place + j, mask=keep),)
        b += (tl.load(place + K + j, mask=keep),)
        w += (tl.load(place + 2 * K + j, mask=keep),)
    return a, b, w, tl.load(place + 3 * K, mask=keep)


@triton.jit
def _tile(t, column, keep, outer, units, inner, ROWS, WIDTH, COLUMNS):
    """Return the places of a tile in memory, and which of them belong to the input."""
    rows = tl.arange(0, ROWS)[:, None]
    if COLUMNS:
        row = t * ROWS + rows
        mask = (row < outer) & keep
        place = row.to(tl.int64) * (units * inner) + column
    else:
        tiles = tl.cdiv(inner, ROWS * WIDTH)
        start = (t % tiles).to(tl.int64) * (ROWS * WIDTH)
        within = rows * WIDTH + tl.arange(0, WIDTH)[None, :]
        mask = within < inner - start
        place = ((t // tiles).to(tl.int64) * units + column) * inner + start + within
    return place, mask


@triton.jit
def _add(total, terms, COLUMNS):
    """Add the terms of a tile to running sums, each inside of its thread."""
    return total + (terms if COLUMNS else tl.sum(terms, 1))


@triton.jit
def kernel(
    d,
    x,
    out,
    sums,
    weight,
    outer,
    units,
    inner,
    K: tl.constexpr,
    G: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Store f(x) in `out`, or the gradients of x and of the weight.

    If the upstream gradient d is given, `out` is the gradient of x, and `sums` is the
    program's part of that of the weight. Otherwise both d and `sums` are `None`.
    """
    column, keep, first, tiles, step = _share(outer, units, inner, ROWS, WIDTH, COLUMNS)
    a, b, w, c = _weights(weight, column, keep, inner, K, COLUMNS)
    total = tl.zeros((ROWS, WIDTH) if COLUMNS else (ROWS,), tl.float32)
    s0 = ()
    for _ in tl.static_range(K):
        s0 += (total,)
    s1 = s0
    s2 = s0
    for t in range(first, tiles, step):
        place, mask = _tile(t, column, keep, outer, units, inner, ROWS, WIDTH, COLUMNS)
        v = tl.load(x + place, mask=mask, other=0.0).to(tl.float32)
        result = tl.zeros((ROWS, WIDTH), tl.float32)
        if d is None:
            result += c
            for j in tl.static_range(K):
                h = a[j] * v + b[j]
                result += w[j] * _both(h, G, x.dtype.element_ty != tl.float32)[0]
        else:
            u = tl.load(d + place, mask=mask, other=0.0).to(tl.float32)
            next0 = ()
            next1 = ()
            next2 = ()
            for j in tl.static_range(K):
                y, slope = _both(a[j] * v + b[j], G, x.dtype.element_ty != tl.float32)
                slope *= u
                result += a[j] * w[j] * slope
                next0 += (_add(s0[j], slope, COLUMNS),)
                next1 += (_add(s1[j], slope * v, COLUMNS),)
                if G != "relu" and G != "leaky_relu":
                    next2 += (_add(s2[j], u * y, COLUMNS),)
            s0 = next0
            s1 = next1
            if G != "relu" and G != "leaky_relu":
                s2 = next2
            total = _add(total, u, COLUMNS)
        tl.store(out + place, result.to(out.dtype.element_ty), mask=mask)
    if d is not None:
        columns = units * inner if COLUMNS else units
        to = sums + (first.to(tl.int64) * columns + column) * (3 * K + 1)
        for j in tl.static_range(K):
            sum0 = tl.sum(s0[j], 0, keep_dims=COLUMNS)
            sum1 = tl.sum(s1[j], 0, keep_dims=COLUMNS)
            sum2 = tl.sum(s2[j], 0, keep_dims=COLUMNS)
            if G == "relu" or G == "leaky_relu":  # g(h) = h g'(h)
                sum2 = a[j] * sum1 + b[j] * sum0
            tl.store(to + j, w[j] * sum1, mask=keep)
            tl.store(to + K + j, w[j] * sum0, mask=keep)
            tl.store(to + 2 * K + j, sum2, mask=keep)
        tl.store(to + 3 * K, tl.sum(total, 0, keep_dims=COLUMNS), mask=keep)
