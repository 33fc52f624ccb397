"""`forms`, the gradients of a VAF on JAX's GPUs and TPUs.

XLA merges the value of a VAF with the operations around it, but reads x once for each
sum of the gradient. One kernel in Pallas reads x once. Where it does not run, all sums
form one reduction.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.case import Case
from keras_vaf.ops.gpu.plan import MOST_UNITS, Plan, plan, refusal, unusable

Array = jax.Array
Gradients = Callable[..., tuple[Array, ...]]


def forms(case: Case, shape: Sequence[int], plain: Gradients) -> dict[str, Gradients]:
    """Return the gradients of a VAF for each platform of XLA but processors.

    `plain` is the same function of the upstream gradient, x and the parameters.
    """
    by_one = functools.partial(by_xla, BY_NAME[case.g].value)
    found = {"default": plain if case.unshared else by_one}
    few = case.k <= MOST_UNITS and math.prod(shape) < 2**31  # Pallas counts in 32 bits
    if few and not inactive():
        found["cuda"] = functools.partial(by_pallas, case.g, case.sizes(shape))
    return found


def inactive() -> str:
    """Return why XLA's operators compute the gradients, or `""`."""
    devices = jax.devices()
    generation = str(getattr(devices[0], "compute_capability", "")).partition(".")[0]
    known = int(generation) if generation.isdecimal() else 0
    if reason := unusable(known, "jax.experimental.pallas.triton"):
        return reason
    if len(devices) > 1:
        return "XLA would gather the input of a kernel from all GPUs"
    with jax.ensure_compile_time_eval(), jax.default_device(devices[0]):
        return refusal("Pallas", _try)


@functools.cache  # not where it raises
def _try() -> None:
    x, one = jnp.arange(-1.0, 3.0), jnp.ones(1)
    _, *found = by_pallas("relu", (4, 1, 1), x + 2, x, one, 0 * one, one, one[0])
    sums = [part.sum().item() for part in found]
    if sums != [11, 7, 11, 10]:
        raise RuntimeError(f"it computes {sums}")


def by_xla(
    g: Callable[[Array], Array], upstream: Array, x: Array, *parameters: Array
) -> tuple[Array, ...]:
    """Return the gradients of a VAF that is shared by a layer, in one reduction."""
    dtype = parameters[0].dtype
    v, u = x.astype(dtype), upstream.astype(dtype)
    d_x, terms = jnp.zeros_like(v), []
    for a, b, w in zip(*parameters[:3], strict=True):
        y, slope = jax.jvp(g, (a * v + b,), (u,))
        d_x += a * w * slope
        terms += [w * slope * v, w * slope, u * y]
    zeros = [jnp.zeros((), dtype)] * (len(terms) + 1)
    add = functools.partial(jax.tree.map, jnp.add)
    *sums, last = jax.lax.reduce([*terms, u], zeros, add, range(x.ndim))
    return d_x.astype(x.dtype), *(jnp.stack(sums[i::3]) for i in range(3)), last


def by_pallas(
    g: str, sizes: tuple[int, int, int], upstream: Array, x: Array, *parameters: Array
) -> tuple[Array, ...]:
    """Return the gradients of a VAF by the kernel."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    alpha, alpha_bias, beta, beta_bias = parameters
    k, units = alpha.shape[-1], beta_bias.size
    p = plan(sizes, k, x.dtype.itemsize, sums=True)
    each = 2 if g in ("relu", "leaky_relu") else 3  # sums of a hidden unit
    shape = p.programs, each * k + 1, p.columns
    of_x = jax.ShapeDtypeStruct((x.size,), x.dtype)
    weight = jnp.concatenate(parameters[:3], -1).reshape(units, 3 * k)
    d_x, sums = pallas.pallas_call(
        functools.partial(_kernel, g, each, p),
        grid=(p.blocks * p.programs,),
        out_shape=[of_x, jax.ShapeDtypeStruct(shape, "float32")],
        compiler_params=triton.CompilerParams(num_warps=p.warps, num_stages=1),
    )(upstream.ravel(), x.ravel(), weight.T)  # functions side by side
    *terms, last = sums.reshape(*shape[:2], units, -1).sum((0, 3))
    found = [jnp.stack(terms[i::each], -1).reshape(alpha.shape) for i in range(each)]
    if each == 2:  # g(h) = h g'(h)
        found.append(alpha * found[1] + alpha_bias * found[0])
    last = last.reshape(beta_bias.shape)
    return d_x.reshape(x.shape), beta * found[1], beta * found[0], found[2], last


def _kernel(g: str, each: int, p: Plan, *refs: Any) -> None:
    """Do what the kernel in Triton does, but leave the factors of the sums out."""
    from jax.experimental import pallas
    from jax.experimental.pallas import triton

    def load(place: Any, mask: Array) -> Array:
        return triton.load(place, mask=mask, other=0.0).astype("float32")

    d, x, weight, d_x, out = refs
    program, rows = pallas.program_id(0), jnp.arange(p.rows)[:, None]
    block, first = jax.lax.rem(program, p.blocks), jax.lax.div(program, p.blocks)
    lanes, offset, stride = 1, p.inner, p.width
    if p.by_column:
        lanes, offset, stride = p.width, p.width, p.columns
    column = block * lanes + jnp.arange(lanes)
    keep, within = column < p.columns, rows * stride + jnp.arange(p.width)
    unit = jax.lax.div(column, p.inner) if p.by_column else column
    w = [load(weight.at[i, unit], keep) for i in range(weight.shape[0])]
    k = len(w) // 3

    def step(i: Any, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        t = first + i * p.programs
        before = jax.lax.rem(t, p.per) * (p.rows * stride)
        start = jax.lax.div(t, p.per) * (p.columns * p.inner) + block * offset
        place = start + before + within
        mask = keep & (within < p.limit - before) & (t < p.tiles)
        v, u = load(x.at[place], mask), load(d.at[place], mask)
        own, terms = jnp.zeros(place.shape, "float32"), []
        for a, b, beta in zip(w[:k], w[k:-k], w[-k:], strict=True):
            y, slope = _both(g, a * v + b)
            slope *= u
            own += a * beta * slope
            terms += [slope, slope * v, u * y][:each]
        triton.store(d_x.at[place], own.astype(d_x.dtype), mask=mask)
        terms = [term if p.by_column else term.sum(1) for term in (*terms, u)]
        return tuple(map(jnp.add, totals, terms))

    zero = jnp.zeros((p.rows, lanes) if p.by_column else (p.rows,), "float32")
    steps = -(p.tiles // -p.programs)
    totals = jax.lax.fori_loop(0, steps, step, (zero,) * (each * k + 1))
    for i, total in enumerate(totals):
        found = jnp.broadcast_to(total.sum(0), (lanes,))
        triton.store(out.at[first, i, column], found, mask=keep)


def _both(g: str, h: Array) -> tuple[Array, Array]:
    """Return g(h) and g'(h). Pallas has no erf (see the kernel in Triton)."""
    if g != "gelu":
        return jax.jvp(BY_NAME[g].value, (h,), (jnp.ones_like(h),))
    density, t = jnp.exp(-0.5 * h * h), 1 / (1 + 0.23164190 * jnp.abs(h))
    p = t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    tail = 0.5 * density * t * (0.254829592 + t * (-0.284496736 + p))
    below = jnp.where(h < 0, tail, 1 - tail)
    return h * below, below + h * density * 0.3989422804014327
