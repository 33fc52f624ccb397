"""The command: compare the training of many small networks with `fit`.

Every task runs in a separate process, which prints one number. A ratio compares two
processes of the same round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environment import environment
from benchmarks.training.tasks import AIMS, TASKS
from keras_vaf.utils import markdown_table, write_atomically

ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3"}


def measure(task: str, backend: str, quick: bool) -> float:
    """Do a task on a backend in a separate process."""
    command = [sys.executable, "-m", "benchmarks.training", "--task", task]
    done = subprocess.run(
        [*command, *["--quick"] * quick],
        env={**os.environ, **ENVIRONMENT, "KERAS_BACKEND": backend},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def markdown(document: dict[str, Any]) -> str:
    """The page of the measurements, from what their JSON file holds."""
    lines = []
    for aim, result in zip(AIMS, document["results"], strict=True):
        values = [aim.value(*numbers) for numbers in result["rounds"]]
        middle = statistics.median(values)
        reached = middle >= aim.limit if aim.at_least else middle <= aim.limit
        shown = f"{middle:.3g}" if reached else f"**{middle:.3g}** (missed)"
        sign = ">=" if aim.at_least else "<="
        each = ", ".join(f"{value:.3g}" for value in values)
        lines.append([aim.what, f"{sign} {aim.limit:g}", shown, each])
    machine = [(name, str(text)) for name, text in document["environment"].items()]
    return "\n".join(
        [
            "# Training many networks",
            "",
            "Made by `python -m benchmarks.training`. Measured values are medians over "
            "rounds.",
            "",
            markdown_table(["what", "aim", "measured", "rounds"], lines),
            "",
            markdown_table(["machine", ""], machine, text_columns=2),
            "",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.task:
        print({task.__name__: task for task in TASKS}[arguments.task](arguments.quick))
        return 0
    results = []
    for aim in AIMS:
        rounds = [
            [measure(task, backend, arguments.quick) for task, backend in aim.tasks]
            for _ in range(1 if arguments.quick else 3)
        ]
        print(f"{aim.what}: {[aim.value(*numbers) for numbers in rounds]}", flush=True)
        results.append({"what": aim.what, "tasks": aim.tasks, "rounds": rounds})
    inputs = "small" if arguments.quick else "full"
    document = {"environment": {**environment(), "inputs": inputs}, "results": results}
    path = arguments.output / "cpu.json"
    write_atomically(path, json.dumps(document, indent=1) + "\n")
    write_atomically(path.with_suffix(".md"), markdown(document))
    print(f"Wrote {path}, and a table next to it.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training",
        description="Measure what it takes to train many small networks.",
        epilog="Example: python -m benchmarks.training --output docs/reports/training",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small inputs, to see that everything runs; its numbers mean nothing",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("docs/reports/training"),
        metavar="FOLDER",
        help="where cpu.json and cpu.md go (default: %(default)s)",
    )
    parser.add_argument("--task", help="do one task in this process, and print it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
