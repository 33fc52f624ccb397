"""`gradients`, those of a VAF on JAX's GPUs and TPUs.

XLA merges the value of a VAF with the operations around it, but reads x once for each
sum of the gradient. One kernel in Pallas reads x once. Where it does not run, all sums
form one reduction.
"""

import functools
import math
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from keras_vaf.ops.gpu.plan import MOST_UNITS, Plan, plan
from keras_vaf.ops.gpu.trial import works
from keras_vaf.ops.native.case import FUNCTIONS

Array = jax.Array
Sizes = tuple[int, int, int]
NAMES = tuple(name for name, _ in FUNCTIONS.values())
"""Fixed functions of the kernel, by the names that the processor's kernels have."""


def takes(g: str, k: int) -> bool:
    """Return whether the kernel computes the gradients of a VAF."""
    if g not in FUNCTIONS or k > MOST_UNITS or inactive():
        return False
    with jax.ensure_compile_time_eval():
        return works(jax.devices()[0], _try)


@functools.cache
def inactive() -> str:
    """Return why XLA's operators compute the gradients, or `""`."""
    devices = jax.devices()
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        return "the environment variable KERAS_VAF_KERNELS is 0"
    if devices[0].platform != "gpu":
        return "JAX finds no GPU"
    if len(devices) > 1:
        return "XLA would gather the input of a kernel from all GPUs"
    capability = str(getattr(devices[0], "compute_capability", ""))
    if not capability[:1].isdecimal() or float(capability) < 8:
        return f"the kernels were not tried on compute capability {capability}"
    try:
        from jax.experimental.pallas import triton  # noqa: F401
    except ImportError as error:
        return f"Pallas cannot be imported: {error}"
    return ""


def _try(device: Any) -> None:
    x = jax.device_put(jnp.linspace(-2.0, 2.0, 32), device)
    weight = jnp.array([[1.0, 0.0, 1.0, 0.0]])
    d_x, sums = by_pallas(jax.nn.relu, "relu", (32, 1, 1), jnp.ones(32), x, weight)
    on = (x > 0).astype("float32")
    total = jax.nn.relu(x).sum()
    want = jnp.stack([total, on.sum(), total, jnp.float32(32)])
    if not (jnp.array_equal(d_x, on) and jnp.allclose(sums[0], want)):
        raise RuntimeError(f"it computes {sums[0]} in place of {want}")


def gradients(
    g: Callable[[Array], Array],
    name: str,
    sizes: Sizes,
    plain: Callable[..., tuple[Array, ...]],
) -> Callable[..., tuple[Array, ...]]:
    """Return a function of the upstream gradient, x and the parameters of a VAF.

    `name` is that of g if `takes` is true, else `""`. `sizes` are the elements before,
    along and behind the unshared axes of x. `plain` is the same function in operators.
    """

    def run(upstream: Array, x: Array, *parameters: Array) -> tuple[Array, ...]:
        alpha, _, _, beta_bias = parameters
        rows = jnp.concatenate([*parameters[:3], beta_bias[..., None]], -1)
        weight = rows.reshape(-1, rows.shape[-1])
        d_x, sums = by_pallas(g, name, sizes, upstream, x, weight)
        k = alpha.shape[-1]
        *parts, last = jnp.split(sums, (k, 2 * k, 3 * k), -1)
        shaped = [part.reshape(alpha.shape) for part in parts]
        return d_x, *shaped, last.reshape(beta_bias.shape)

    if not name or math.prod(sizes) >= 2**31:  # Pallas counts in 32 bits
        return functools.partial(by_xla, g) if sizes[1:] == (1, 1) else plain
    run = jax.custom_batching.custom_vmap(run)

    @run.def_vmap
    def mapped(size: int, batched: list[bool], *tensors: Array) -> Any:
        axes = [0 if each else None for each in batched]
        return jax.vmap(plain, axes)(*tensors), (True,) * (len(tensors) - 1)

    return run


def by_xla(
    g: Callable[[Array], Array], upstream: Array, x: Array, *parameters: Array
) -> tuple[Array, ...]:
    """Return the gradients of a VAF that is shared by a layer, in one reduction."""
    dtype = parameters[0].dtype
    v, u = x.astype(dtype), upstream.astype(dtype)
    d_x, terms = jnp.zeros_like(v), []
    for a, b, w in zip(*parameters[:3], strict=True):
        y, pull_back = jax.vjp(g, a * v + b)
        (slope,) = pull_back(u)
        d_x += a * w * slope
        terms += [w * slope * v, w * slope, u * y]

    def add(one: Any, other: Any) -> Any:
        return [first + second for first, second in zip(one, other, strict=True)]

    zeros = [jnp.zeros((), dtype)] * (len(terms) + 1)
    *sums, last = jax.lax.reduce([*terms, u], zeros, add, range(x.ndim))
    return d_x.astype(x.dtype), *(jnp.stack(sums[i::3]) for i in range(3)), last


def by_pallas(
    g: Callable[[Array], Array],
    name: str,
    sizes: Sizes,
    upstream: Array,
    x: Array,
    weight: Array,
    interpret: bool = False,
) -> tuple[Array, Array]:
    """Return the gradients of x and of the weight, one row for each function."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    k = weight.shape[1] // 3
    count = 1 if interpret else getattr(jax.devices()[0], "core_count", None) or 132
    outer, units, inner = sizes if sizes[1] > 1 else (1, 1, x.size)
    p = plan((outer, units, inner), k, x.dtype.itemsize, count, sums=True)
    width = units * inner
    if not p.columns:
        width = min(p.width, inner & -inner)  # a tile has whole rows of memory
        whole = outer, units, inner // width * p.width
        p = plan(whole, k, x.dtype.itemsize, count, sums=True)
        p = p._replace(width=width, inner=inner)
    table = weight.T
    if p.columns:
        table = jnp.repeat(table, inner, 1)
        table = jnp.pad(table, ((0, 0), (0, p.blocks * p.width - table.shape[1])))
    shape = x.size // width, width
    options = triton.CompilerParams(num_warps=p.warps, num_stages=1)
    both = _gelu_and_slope if name == "gelu" else functools.partial(_g_and_slope, g)
    homogeneous = name in ("relu", "leaky_relu")  # g(h) = h g'(h)
    d_x, sums = pallas.pallas_call(
        functools.partial(_kernel, both, homogeneous, p),
        grid=(p.blocks * p.programs,),
        in_specs=[pallas.BlockSpec()] * 3,
        out_specs=[pallas.BlockSpec()] * 2,
        out_shape=[
            jax.ShapeDtypeStruct(shape, x.dtype),
            jax.ShapeDtypeStruct((p.programs, *table.shape), "float32"),
        ],
        **({"interpret": True} if interpret else {"compiler_params": options}),
    )(upstream.reshape(shape), x.reshape(shape), table)
    sums = sums.sum(0)[:, : units * inner if p.columns else units]
    sums = sums.reshape(len(table), units, -1).sum(-1)
    return d_x.reshape(x.shape), sums.T


def _kernel(both: Any, homogeneous: bool, p: Plan, *refs: Any) -> None:
    """Do what `backward` of the kernels in Triton does."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    d_ref, x_ref, w_ref, d_x_ref, out = refs
    k, program = len(w_ref) // 3, pallas.program_id(0)
    block, first = jax.lax.rem(program, p.blocks), jax.lax.div(program, p.blocks)
    column: Any = pallas.ds(block * p.width, p.width) if p.columns else block
    within: Any = pallas.ds(block * p.width if p.columns else 0, p.width)
    rows = p.outer if p.columns else p.inner // p.width
    tiles = p.tiles if p.columns else p.tiles // p.outer
    units = [[w_ref[i, column] for i in (j, k + j, 2 * k + j)] for j in range(k)]

    def add(total: Array, terms: Array) -> Array:
        return total + (terms if p.columns else terms.sum(1))

    def step(i: Any, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        t = first + i * p.programs
        row = jax.lax.rem(t, tiles) * p.rows
        group = jax.lax.div(t, tiles) * p.units + block
        mask = (row + jnp.arange(p.rows) < rows) & (t < p.tiles)
        mask = jnp.broadcast_to(mask[:, None], (p.rows, p.width))
        if p.columns and p.units * p.inner % p.width:
            mask &= block * p.width + jnp.arange(p.width) < p.units * p.inner
        place = pallas.ds(row if p.columns else group * rows + row, p.rows), within
        v, u = (
            triton.load(ref.at[place], mask=mask, other=0.0).astype("float32")
            for ref in (x_ref, d_ref)
        )
        own, found = jnp.zeros((p.rows, p.width), "float32"), []
        for j, (a, b, w) in enumerate(units):
            y, slope = both(a * v + b)
            slope *= u
            own += a * w * slope
            found += [add(totals[3 * j], slope), add(totals[3 * j + 1], slope * v)]
            last = totals[3 * j + 2]
            found.append(last if homogeneous else add(last, u * y))
        triton.store(d_x_ref.at[place], own.astype(d_x_ref.dtype), mask=mask)
        return *found, add(totals[-1], u)

    zero = jnp.zeros((p.rows, p.width) if p.columns else (p.rows,), "float32")
    zeros = (zero,) * (3 * k + 1)
    totals = jax.lax.fori_loop(0, -(p.tiles // -p.programs), step, zeros)
    totals = [total.sum(0) for total in totals]
    for j, (a, b, w) in enumerate(units):
        sum_0, sum_1, sum_2 = totals[3 * j : 3 * j + 3]
        out[first, j, column] = w * sum_1
        out[first, k + j, column] = w * sum_0
        out[first, 2 * k + j, column] = a * sum_1 + b * sum_0 if homogeneous else sum_2
    out[first, 3 * k, column] = totals[-1]


def _g_and_slope(g: Callable[[Array], Array], h: Array) -> tuple[Array, Array]:
    return jax.jvp(g, (h,), (jnp.ones_like(h),))


def _gelu_and_slope(h: Array) -> tuple[Array, Array]:
    """Return GELU and its slope. Pallas has no erf (Abramowitz and Stegun, 7.1.26)."""
    density, t = jnp.exp(-0.5 * h * h), 1 / (1 + 0.23164190 * jnp.abs(h))
    p = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    tail = 0.5 * density * t * (0.254829592 + t * (-0.284496736 + p))
    below = jnp.where(h < 0, tail, 1 - tail)
    return h * below, below + h * density * 0.3989422804014327
