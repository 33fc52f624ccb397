"""Designs of the gradient that were tried, side by side, on JAX.

    KERAS_BACKEND=jax python -m benchmarks.designs

Forward and backward of one VAF shared over a layer, g = relu, with the output and all
gradients returned. The designs differ in how the sums behind the gradients of the
parameters are formed. Writes `docs/reports/benchmarks/designs.json`, and a table beside
it.
"""

import functools
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from keras_vaf.utils import write_atomically

REPORT = Path("docs/reports/benchmarks/designs.json")
SHAPE = (32, 32, 32, 192)
REPETITIONS = 15


def value(x: Any, alpha: Any, alpha_bias: Any, beta: Any, beta_bias: Any) -> Any:
    """The equation, unit by unit."""
    y = beta_bias
    for a, b, weight in zip(alpha, alpha_bias, beta, strict=True):
        y = y + weight * jax.nn.relu(a * x + b)
    return y


def materialised(x: Any, alpha: Any, alpha_bias: Any, beta: Any, beta_bias: Any) -> Any:
    """The equation with an axis of k entries for every element."""
    return jax.nn.relu(x[..., None] * alpha + alpha_bias) @ beta + beta_bias


def moments(x: Any, d: Any, alpha: Any, alpha_bias: Any) -> list[Any]:
    """What the sums run over: two tensors a hidden unit, and the upstream gradient."""
    terms = []
    for a, b in zip(alpha, alpha_bias, strict=True):
        active = a * x + b > 0
        terms += [jnp.where(active, d, 0.0), jnp.where(active, d * x, 0.0)]
    return [*terms, d]


def whole(x: Any, d: Any, *weights: Any) -> list[Any]:
    """Each sum over the whole array."""
    return [term.sum() for term in moments(x, d, *weights)]


def blocks(x: Any, d: Any, *weights: Any, size: int, lanes: int) -> list[Any]:
    """All sums of a block, added to lanes of running sums."""
    flat_x, flat_d = x.reshape(-1), d.reshape(-1)

    def add(i: Any, running: Any) -> Any:
        block = (
            lax.dynamic_slice(flat, (i * size,), (size,)) for flat in (flat_x, flat_d)
        )
        terms = moments(*(part.reshape(-1, lanes) for part in block), *weights)
        return [r + t.sum(0) for r, t in zip(running, terms, strict=True)]

    start = [jnp.zeros(lanes) for _ in range(2 * len(weights[0]) + 1)]
    return [t.sum() for t in lax.fori_loop(0, x.size // size, add, start)]


def product(x: Any, d: Any, *weights: Any, size: int) -> list[Any]:
    """A block's sums as a product of its mask with the two columns d and d x."""
    alpha, alpha_bias = (weight[:, None] for weight in weights)

    def add(running: Any, block: Any) -> tuple[Any, None]:
        x, d = block
        active = (alpha * x + alpha_bias > 0).astype(x.dtype)
        mask = jnp.concatenate([active, jnp.ones((1, size))])
        return running + mask @ jnp.stack([d, d * x], axis=1), None

    start = jnp.zeros((len(weights[0]) + 1, 2))
    totals, _ = lax.scan(add, start, (x.reshape(-1, size), d.reshape(-1, size)))
    return [*totals[:-1].ravel(), totals[-1, 0]]


def with_sums(sums: Callable[..., list[Any]]) -> Callable[..., Any]:
    """The equation with a gradient that keeps x and forms its sums as told."""

    @jax.custom_vjp
    def function(x: Any, *weights: Any) -> Any:
        return value(x, *weights)

    def pull_back(kept: Any, d: Any) -> tuple[Any, ...]:
        x, alpha, alpha_bias, beta, _ = kept
        slope = 0.0
        for a, b, weight in zip(alpha, alpha_bias, beta, strict=True):
            slope = slope + jnp.where(a * x + b > 0, a * weight, 0.0)
        *pairs, total = sums(x, d, alpha, alpha_bias)
        sum_0, sum_1 = jnp.stack(pairs[0::2]), jnp.stack(pairs[1::2])
        gradients = beta * sum_1, beta * sum_0, alpha * sum_1 + alpha_bias * sum_0
        return d * slope, *gradients, total

    function.defvjp(lambda *kept: (value(*kept), kept), pull_back)
    return function


DESIGNS: dict[str, Callable[..., Any]] = {
    "ReLU": lambda x, *weights: jax.nn.relu(x),
    "axis of k entries, automatic differentiation": materialised,
    "unit by unit, automatic differentiation": value,
    "sums over the whole array": with_sums(whole),
    **{
        f"blocks of {size}, {lanes} lanes": with_sums(
            functools.partial(blocks, size=size, lanes=lanes)
        )
        for size, lanes in (
            (4_096, 256),
            (16_384, 64),
            (16_384, 256),
            (16_384, 1_024),
            (16_384, 16_384),
            (65_536, 256),
            (262_144, 1_024),
        )
    },
    "blocks of 16384, product with the mask": with_sums(
        functools.partial(product, size=16_384)
    ),
}


def measure(k: int) -> dict[str, dict[str, Any]]:
    """Milliseconds (one call of each design in turn) and temporaries, per design."""
    draw = np.random.default_rng(0).normal
    x, d = (jnp.asarray(draw(size=SHAPE), "float32") for _ in range(2))
    weights = [jnp.asarray(draw(size=k), "float32") for _ in range(3)]
    weights.append(jnp.float32(0.1))

    def run(design: Callable[..., Any], *arguments: Any) -> Any:
        y, pull_back = jax.vjp(design, *arguments)
        return y, pull_back(d)

    programs = {
        name: jax.jit(functools.partial(run, design)).lower(x, *weights).compile()
        for name, design in DESIGNS.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(REPETITIONS + 1):
        for name, program in programs.items():
            start = time.perf_counter()
            jax.block_until_ready(program(x, *weights))
            seconds[name].append(time.perf_counter() - start)
    return {
        name: {
            "milliseconds": [round(1e3 * s, 3) for s in seconds[name][1:]],
            "median": round(1e3 * statistics.median(seconds[name][1:]), 1),
            "temporaries": program.memory_analysis().temp_size_in_bytes / x.nbytes,
        }
        for name, program in programs.items()
    }


def markdown(report: dict[str, Any]) -> str:
    """The table of a report: milliseconds, and temporaries in inputs, for each k."""
    measured = report["k"]
    header = ["design", *(f"k = {k}, ms | temporaries, inputs" for k in measured)]
    lines = [header, ["---", *["---: | ---:"] * len(measured)]]
    for name in DESIGNS:
        rows = (designs[name] for designs in measured.values())
        cells = (f"{row['median']:.1f} | {row['temporaries']:.2f}" for row in rows)
        lines.append([name, *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Measure, and write the report and its table."""
    report = {
        "command": "KERAS_BACKEND=jax python -m benchmarks.designs",
        "jax": jax.__version__,
        "machine": platform.processor() or platform.machine(),
        "shape": SHAPE,
        "repetitions": REPETITIONS,
        "k": {k: measure(k) for k in (3, 15)},
    }
    write_atomically(REPORT, json.dumps(report, indent=1) + "\n")
    write_atomically(REPORT.with_suffix(".md"), markdown(report))
    print(markdown(report), end="")


if __name__ == "__main__":
    main()
