"""One process: measures groups of activations, and prints each row as JSON.

`python -m benchmarks.speed.worker` is started by `benchmarks.speed` alone.
"""

import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import scipy.stats

from benchmarks.speed import layers, models
from benchmarks.speed.cases import ARRAYS, MODELS, Group, Setting, groups
from benchmarks.speed.record import Row

FEWEST, MOST = 9, 300  # rounds; with nine, an interval of 95 % exists
LAYER_SECONDS, MODEL_SECONDS = 2.0, 5.0  # of the rounds of one work
SHORTEST = 0.002  # seconds of one measurement, which repeats a shorter work


def measure(group: Group, compiled: bool, quick: bool) -> list[Row]:
    """Build all activations of a group, and measure each of their works in turn."""
    alone = group.case in ARRAYS
    steps = 1 if alone else models.NETWORKS[group.case].steps
    seconds = LAYER_SECONDS if alone else MODEL_SECONDS
    rounds = (0, 1) if quick else (seconds, FEWEST)
    built, rows, firsts = [], [], []
    for activation in group.activations:
        row = {"group": group.name, "case": group.case, "activation": activation.name}
        row |= {name: getattr(activation, name) for name in ("g", "k", "sharing")}
        if alone:
            programs, kept = layers.works(group.case, activation, compiled)
            built.append((row | {"kept_bytes": kept}, programs))
        else:
            fixed = group.activations[0].name
            programs, first = models.works(group.case, activation, fixed)
            built.append((row, programs))
            firsts.append(first)
            rows.append(row | {"work": "first step", **summary([first], firsts[:1])})
    for work in built[0][1]:
        times = in_turn([programs[work] for _, programs in built], *rounds)
        each = [[second / steps for second in own] for own in times]
        rows += [
            row | {"work": work, **summary(own, each[0])}
            for (row, _), own in zip(built, each, strict=True)
        ]
    return rows


def in_turn(
    works: Sequence[Callable[[], Any]], seconds: float, fewest: int
) -> list[list[float]]:
    """Run all works in each round, in changing order; return their seconds by round.

    At least `fewest` rounds are run, and none begins after these seconds.
    """
    calls = [calls_of(work) for work in works]
    times: list[list[float]] = [[] for _ in works]
    order, shuffle = list(range(len(works))), random.Random(0).shuffle
    start = time.perf_counter()
    while (done := len(times[0])) < fewest or (
        done < MOST and time.perf_counter() - start < seconds
    ):
        shuffle(order)
        for i in order:
            times[i].append(seconds_of(works[i], calls[i]))
    return times


def calls_of(work: Callable[[], Any]) -> int:
    """Return how many calls of a work last long enough to be measured."""
    second = seconds_of(work, 1)
    if second < SHORTEST:
        second = min(seconds_of(work, 1) for _ in range(5))
    return max(1, math.ceil(SHORTEST / second))


def seconds_of(work: Callable[[], Any], calls: int) -> float:
    """Return the mean seconds of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def summary(own: Sequence[float], fixed: Sequence[float]) -> Row:
    """Describe times by rounds, and their ratios to the fixed function.

    The interval of 95 % is two of the sorted ratios: half of all possible ratios are
    below their median, so the number of drawn ones below it is binomial. Fewer than
    `FEWEST` rounds have no interval.
    """
    ratios = sorted(a / b for a, b in zip(own, fixed, strict=True))
    count = len(ratios)
    below = int(scipy.stats.binom.ppf(0.025, count, 0.5)) - 1
    numbers = {
        "seconds_least": min(own),
        "seconds_median": statistics.median(own),
        "ratio": statistics.median(ratios),
    }
    if count >= FEWEST:
        numbers |= {"ratio_low": ratios[below], "ratio_high": ratios[-1 - below]}
    shown = {name: float(f"{number:.4g}") for name, number in numbers.items()}
    return {"rounds": count, **shown}


def main() -> None:
    """Measure the groups of a setting."""
    values, quick = json.loads(sys.argv[1])
    setting = Setting(*values)
    if setting.backend == "jax":
        import jax

        # Otherwise JAX may give a program to another thread, which takes several times
        # as long as a small program itself, for some programs and not for others.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    models.works(MODELS[0].case, MODELS[0].activations[0], "relu")  # first use of all
    about = {"backend": setting.name, "kernels": setting.kernels}
    for group in groups(setting, quick):
        for row in measure(group, setting.compiled, quick):
            print(json.dumps(about | row), flush=True)


if __name__ == "__main__":
    main()
