"""`gradients`, those of a VAF on JAX's GPUs and TPUs.

XLA merges the value of a VAF with the operations around it, but reads x once for each
sum of the gradient. One kernel in Pallas reads x once. Where it does not run, all sums
form one reduction.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from keras_vaf.ops.gpu.plan import MOST_UNITS, Plan, plan
from keras_vaf.ops.gpu.trial import refusal, unusable
from keras_vaf.ops.native.case import FUNCTIONS

Array = jax.Array
Sizes = tuple[int, int, int]
NAMES = tuple(name for name, _ in FUNCTIONS.values())
"""Fixed functions of the kernel, by the names that the processor's kernels have."""


def takes(g: str, k: int) -> bool:
    """Return whether the kernel computes the gradients of a VAF."""
    return g in FUNCTIONS and k <= MOST_UNITS and not inactive()


def inactive() -> str:
    """Return why XLA's operators compute the gradients, or `""`."""
    devices = jax.devices()
    capability = str(getattr(devices[0], "compute_capability", ""))
    known = float(capability) if capability[:1].isdecimal() else 0.0
    if reason := unusable(known, "jax.experimental.pallas.triton"):
        return reason
    if len(devices) > 1:
        return "XLA would gather the input of a kernel from all GPUs"
    with jax.ensure_compile_time_eval(), jax.default_device(devices[0]):
        return refusal("Pallas", _try)


@functools.cache  # not where it raises
def _try() -> None:
    x, one, zero = jnp.arange(-1.0, 3.0), jnp.ones(1), jnp.zeros(1)
    tensors = jnp.ones(4), x, one, zero, one, zero[0]
    _, *found = by_pallas(jax.nn.relu, "relu", (4, 1, 1), *tensors)
    sums = [part.sum().item() for part in found]
    if sums != [3, 2, 3, 4]:
        raise RuntimeError(f"it computes {sums}")


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
    if not name or math.prod(sizes) >= 2**31:  # Pallas counts in 32 bits
        return functools.partial(by_xla, g) if sizes[1:] == (1, 1) else plain

    run = jax.custom_batching.custom_vmap(functools.partial(by_pallas, g, name, sizes))

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
    *parameters: Array,
) -> tuple[Array, ...]:
    """Return the gradients of a VAF by the kernel."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    alpha, alpha_bias, beta, beta_bias = parameters
    k, size = alpha.shape[-1], x.dtype.itemsize
    count = getattr(jax.devices()[0], "core_count", None) or 1  # in the interpreter
    p = plan(sizes, k, size, count, sums=True)
    both = _gelu if name == "gelu" else lambda h: jax.jvp(g, (h,), (jnp.ones_like(h),))
    each = 2 if name in ("relu", "leaky_relu") else 3  # sums of a hidden unit
    shape = p.programs, p.units, p.inner if p.columns else 1, each * k + 1
    d_x, sums = pallas.pallas_call(
        functools.partial(_kernel, both, each, p),
        grid=(p.blocks * p.programs,),
        out_shape=[
            jax.ShapeDtypeStruct((x.size,), x.dtype),
            jax.ShapeDtypeStruct((math.prod(shape),), "float32"),
        ],
        compiler_params=triton.CompilerParams(num_warps=p.warps, num_stages=1),
    )(upstream.ravel(), x.ravel(), jnp.concatenate(parameters[:3], -1).ravel())
    *terms, last = jnp.moveaxis(sums.reshape(shape).sum((0, 2)), -1, 0)
    found = [jnp.stack(terms[i::each], -1).reshape(alpha.shape) for i in range(each)]
    if each == 2:  # g(h) = h g'(h)
        found.append(alpha * found[1] + alpha_bias * found[0])
    last = last.reshape(beta_bias.shape)
    return d_x.reshape(x.shape), beta * found[1], beta * found[0], found[2], last


def _kernel(both: Any, each: int, p: Plan, *refs: Any) -> None:
    """Do what the kernel in Triton does, but leave the factors of the sums out."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    def load(ref: Any, place: Array, mask: Array) -> Array:
        return triton.load(ref.at[place], mask=mask, other=0.0).astype("float32")

    d, x, weight, d_x, out = refs
    program, rows = pallas.program_id(0), jnp.arange(p.rows)[:, None]
    block, first = jax.lax.rem(program, p.blocks), jax.lax.div(program, p.blocks)
    lanes, columns = (p.width, p.units * p.inner) if p.columns else (1, p.units)
    column = block * lanes + jnp.arange(lanes)
    keep, unit = column < columns, jax.lax.div(column, columns // p.units)
    k = weight.shape[0] // (3 * p.units)
    units = [
        [load(weight, unit * 3 * k + i, keep) for i in range(j, 3 * k, k)]
        for j in range(k)
    ]

    def tile(t: Any) -> tuple[Array, Array]:
        """Return the places of a tile, and which of them belong to the input."""
        if p.columns:
            row = t * p.rows + rows
            return row * columns + column, (row < p.outer) & keep
        tiles = p.tiles // p.outer
        start = jax.lax.rem(t, tiles) * (p.rows * p.width)
        within = start + rows * p.width + jnp.arange(p.width)
        row = jax.lax.div(t, tiles) * p.units + column
        return row * p.inner + within, (within < p.inner) & (t < p.tiles)

    def step(i: Any, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        place, mask = tile(first + i * p.programs)
        v, u = load(x, place, mask), load(d, place, mask)
        own, found = jnp.zeros(place.shape, "float32"), []
        for a, b, w in units:
            y, slope = both(a * v + b)
            slope *= u
            own += a * w * slope
            found += [slope, slope * v, u * y][:each]
        found.append(u)
        triton.store(d_x.at[place], own.astype(d_x.dtype), mask=mask)
        terms = found if p.columns else [term.sum(1) for term in found]
        return tuple(map(jnp.add, totals, terms))

    zero = jnp.zeros((p.rows, p.width) if p.columns else (p.rows,), "float32")
    zeros = (zero,) * (each * k + 1)
    totals = jax.lax.fori_loop(0, -(p.tiles // -p.programs), step, zeros)
    for i, total in enumerate(totals):
        place = (first * columns + column) * len(totals) + i
        triton.store(out.at[place], jnp.broadcast_to(total.sum(0), (lanes,)), mask=keep)


def _gelu(h: Array) -> tuple[Array, Array]:
    """Return GELU and its slope. Pallas has no erf (Abramowitz and Stegun, 7.1.26)."""
    density, t = jnp.exp(-0.5 * h * h), 1 / (1 + 0.23164190 * jnp.abs(h))
    p = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    tail = 0.5 * density * t * (0.254829592 + t * (-0.284496736 + p))
    below = jnp.where(h < 0, tail, 1 - tail)
    return h * below, below + h * density * 0.3989422804014327
