"""Time and memory of `read_table`, compared with `pandas.read_csv`.

    python -m benchmarks.tables --output docs/reports/tables

Each reading runs in a separate process. Memory is the growth of the largest resident
set. The size of the data is that of pandas' table.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.environment import environment
from keras_vaf.datasets import read_table
from keras_vaf.utils import markdown_table, write_atomically

ROWS = 200_000
REPETITIONS = 7
AIMS = {"time": 1.5, "memory": 3.0}
TABLES = ("50 numbers", "40 numbers, 6 categories, 2 dates, 2 true or false")


def make_table(path, rows, mixed):
    """Write a table of 50 columns and a target."""
    import pandas

    rng = np.random.default_rng(0)
    numbers = 40 if mixed else 50
    columns = {f"n{i}": rng.standard_normal(rows).round(6) for i in range(numbers)}
    if mixed:
        days = np.datetime64("2020-01-01") + np.arange(2_000)
        for i in range(6):
            names = [f"name {j}" for j in range(5 * 4**i)]
            columns[f"c{i}"] = rng.choice(names[:1_000], rows)
        for i in range(2):
            columns[f"d{i}"] = rng.choice(days, rows)
            columns[f"b{i}"] = rng.choice(["yes", "no"], rows)
    columns["y"] = rng.standard_normal(rows).round(6)
    pandas.DataFrame(columns).to_csv(path, index=False)


def measure_here(reader, path):
    """Read a table in this process, and return seconds and bytes."""
    import pandas

    # Forget the peak of the imports. Linux keeps the largest resident set until then.
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    started = time.perf_counter()
    if reader == "pandas":
        result = pandas.read_csv(path)
        size = int(result.memory_usage(index=False, deep=False).sum())
    else:
        result = read_table(path, "y")
        size = result.x.nbytes
    return {
        "seconds": time.perf_counter() - started,
        "memory": _peak() - before,
        "size": size,
    }


def measure(path):
    """Read a table with each reader in turns; return the medians of the processes."""
    runs = {"pandas": [], "read_table": []}
    for _ in range(REPETITIONS):
        for reader, found in runs.items():
            words = ["-m", "benchmarks.tables", "--read", reader, str(path)]
            done = subprocess.run(
                [sys.executable, *words], capture_output=True, text=True, check=True
            )
            found.append(json.loads(done.stdout.splitlines()[-1]))
    return {
        reader: {
            name: statistics.median(run[name] for run in found) for name in found[0]
        }
        for reader, found in runs.items()
    }


def to_markdown(document):
    """Return the table of the page."""
    lines = []
    for name, pair in document["tables"].items():
        pandas, ours = pair["pandas"], pair["read_table"]
        lines.append(
            (
                name,
                f"{pandas['seconds']:.2f} s",
                f"{ours['seconds']:.2f} s",
                f"{ours['seconds'] / pandas['seconds']:.2f}",
                f"{pandas['memory'] / 2**20:.0f} MiB",
                f"{ours['memory'] / 2**20:.0f} MiB",
                f"{ours['memory'] / pandas['size']:.1f}",
            )
        )
    header = (
        *("columns", "pandas", "`read_table`", "time, aim 1.5", "memory of pandas"),
        *("memory of `read_table`", "memory / data, aim 3"),
    )
    return markdown_table(header, lines) + "\n"


def _peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = (line for line in lines if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("runs/tables"))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        print(json.dumps(measure_here(*arguments.read)))
        return
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            path = Path(folder) / "table.csv"
            make_table(path, arguments.rows, mixed=name != TABLES[0])
            tables[name] = measure(path)
    document = {
        "environment": environment(),
        "rows": arguments.rows,
        "repetitions": REPETITIONS,
        "aims": AIMS,
        "tables": tables,
    }
    path = arguments.output / "reading.json"
    write_atomically(path, json.dumps(document, indent=1) + "\n")
    write_atomically(path.with_suffix(".md"), to_markdown(document))
    print(path.with_suffix(".md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
