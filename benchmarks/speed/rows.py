"""Rows of a record: times in turn, their ratios, other processes, and the file."""

import datetime
import json
import lzma
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import scipy.stats

import keras_vaf
from keras_vaf.ops.native.library import find

Row = dict[str, Any]
PACKAGES = ("keras-vaf", "keras", "numpy", "tensorflow", "jax", "jaxlib", "torch")
FEWEST = 9  # rounds; with nine, an interval of 95 % exists


def in_turn(works: Sequence[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """Run all works in each round, in changing order; return their seconds by round.

    At least `FEWEST` rounds are run, and none begins after these seconds.
    """
    times: list[list[float]] = [[] for _ in works]
    order, shuffle = list(range(len(works))), random.Random(0).shuffle
    start = time.perf_counter()
    while len(times[0]) < FEWEST or time.perf_counter() - start < seconds:
        shuffle(order)
        for i in order:
            times[i].append(seconds_of(works[i]))
    return times


def seconds_of(work: Callable[[], Any]) -> float:
    """Run a work, and return its seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
        "seconds_median": statistics.median(own),
        "ratio": statistics.median(ratios),
    }
    if count >= FEWEST:
        numbers |= {"ratio_low": ratios[below], "ratio_high": ratios[-1 - below]}
    return {"rounds": count, **numbers}


def measured(arguments: list[str], variables: dict[str, str]) -> Iterator[Row]:
    """Yield the rows that a module prints in a process, each as a line of JSON."""
    command = [sys.executable, "-m", *arguments]
    options: Row = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        command, env={**os.environ, **variables}, **options
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            yield json.loads(line)
    if process.returncode:
        raise SystemExit(f"This command failed: {' '.join(command)}")


def environment() -> dict[str, str]:
    """Return the machine and the versions, each as a line of text."""
    found, cpu = find(), Path("/proc/cpuinfo").read_text("utf-8")
    named = re.search(r"model name\s*: (.*)", cpu)
    installed = {each.name: each.version for each in metadata.distributions()}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": named[1] if named else platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "Python": platform.python_version(),
        **{name: installed.get(name, "not installed") for name in PACKAGES},
        "native kernels": found.instruction_set if found.library else found.reason,
    }


def save(path: Path, command: str, device: str, rows: list[Row]) -> None:
    """Write rows as a compressed table, below a line that says where they come from."""
    here = environment()
    package = str(Path(keras_vaf.__file__).parent)  # maybe that of another commit
    asked = ["git", "-C", package, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    first = (
        f"# command: {command}; commit: {commit}; "
        f"versions: {', '.join(f'{name} {here[name]}' for name in [*here][3:])}; "
        f"device: {device or here['processor']}, {here['cores']} cores, "
        f"on {here['date']}, load {os.getloadavg()[0]:.1f}\n"
    )
    table = pd.DataFrame(rows).to_csv(index=False, float_format="%.4g")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress((first + table).encode()))
