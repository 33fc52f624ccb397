"""The command: `python -m benchmarks.speed`.

Each setting (a backend, with or without the native kernels) is measured in a separate
process. The record is written after each setting. At the end, the tables of the page on
cost are printed: a VAF relative to the fixed function, with the kernels / without them.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.speed.rows import Row, measured, save

OUTPUT = Path("docs/reports/speed/cpu.csv.xz")
COMPILED = "tensorflow, jit_compile=True"  # XLA has no kernels
SETTINGS = (
    *((name, on) for name in ("jax", "tensorflow", "torch") for on in (True, False)),
    (COMPILED, False),
)
# glibc keeps freed memory. Otherwise the next array pays a page fault for each 4 KiB,
# and an activation pays for the one that was measured before.
VARIABLES = {
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "1073741824",
    "JAX_ENABLE_COMPILATION_CACHE": "false",  # a first step compiles
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def main() -> None:
    """Measure all settings."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description="Measure the time of a VAF relative to the fixed function.",
    )
    parser.add_argument("--quick", action="store_true", help="to see that it runs")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FILE")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name, kernels in SETTINGS:
        variables = {"KERAS_BACKEND": name.partition(",")[0]}
        variables |= {"KERAS_VAF_KERNELS": str(int(kernels))}
        task = ["compiled"] * (name == COMPILED) + ["quick"] * arguments.quick
        found = measured(["benchmarks.speed.worker", *task], VARIABLES | variables)
        rows += ({"backend": name, "kernels": kernels, **row} for row in found)
        save(arguments.output, parser.prog, "", rows)
    print(*tables(rows), sep="\n")


def tables(rows: list[Row]) -> Iterator[str]:
    """Yield the tables of `docs/cost.md`; seconds of a fixed function stand first."""
    frame = pd.DataFrame(rows)
    first = frame.work == "first step"
    vaf = (frame.k == 3) & (frame.sharing == "layer")
    fixed = first & frame.kernels & frame.g.eq("") & frame.activation.ne("PReLU")
    numbers = frame.ratio.mask(first, frame.seconds_median).map("{:.2f}".format)
    frame = frame.assign(function=frame.g.where(vaf, frame.activation), cell=numbers)
    order = {"by": ["k", "kernels"], "ascending": [True, False], "kind": "stable"}
    for work, part in frame[vaf | fixed].sort_values(**order).groupby("work"):
        keys = ["case", "function", "backend"]
        cells = part.groupby(keys, sort=False).cell.agg(" / ".join).unstack()
        yield f"\n{work}\n\n{cells.to_string()}"


if __name__ == "__main__":
    main()
