"""Errors of VAFs in networks with a Lipschitz certificate, for several choices.

`KERAS_BACKEND=jax python -m benchmarks.certified_causes` measures the errors. The arms
differ in k, the scaling of `SlopeBound`, the limit of alpha, and sharing. All arms have
the network, the data and the training of the map's task `certified`, with two learning
rates and five seeds.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import keras

from keras_vaf.constraints import Interval, SlopeBound
from keras_vaf.experiments.reports.report import environment
from keras_vaf.research.map.arm import FIXED, PRELU, Arm
from keras_vaf.research.map.tasks import certified
from keras_vaf.utils import markdown_table

OUTPUT = Path("docs/reports/certified")
RATES = (0.01, 0.03)
SEEDS = (0, 1, 2, 3, 4)


def vaf(k: int, scaling: str, limited: bool, sharing: str = "layer") -> Arm:
    """Return the arm of a VAF that starts at ReLU.

    Args:
        k: Number of hidden units.
        scaling: As for `SlopeBound`.
        limited: Whether alpha stays between -1 and 1.
        sharing: As for `VAFActivation`.
    """
    serialize = keras.saving.serialize_keras_object
    arguments: dict[str, Any] = {"k": k, "g": "relu", "sharing": sharing}
    arguments["function_constraint"] = serialize(SlopeBound(1.0, scaling))
    if limited:
        arguments["alpha_constraint"] = serialize(Interval(-1.0, 1.0))
    title = f"VAF, k = {k}, one function per {sharing}, scaled per {scaling}"
    title += ", limited alpha" if limited else ""
    return Arm(title, title, "vaf", "VAFActivation", arguments)


ARMS = (
    FIXED[0],
    PRELU,
    vaf(3, "function", limited=False),
    vaf(2, "function", limited=False),
    vaf(2, "unit", limited=False),
    vaf(2, "function", limited=True),
    vaf(3, "unit", limited=True),
    vaf(2, "unit", limited=True),
    vaf(2, "unit", limited=True, sharing="channel"),
)


def measure(dataset: str, steps: int, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Train all arms, and return the errors of every learning rate.

    Args:
        dataset: A dataset of the task.
        steps: Number of steps.
        seeds: Seeds of the networks.
    """
    from keras_vaf.research.map.training_on_jax import Lane, Trainer

    settings = dataclasses.replace(certified.TASK.settings, steps=steps)
    for arm in ARMS:
        problem = certified.make(dataset, settings)
        trainer = Trainer(problem, arm, settings)
        lanes = [Lane(seed, rate) for rate in RATES for seed in seeds]
        trained = trainer.train(lanes, steps)
        count = len(seeds)
        errors = {
            f"{rate:g}": [each.error for each in trained[i * count : (i + 1) * count]]
            for i, rate in enumerate(RATES)
        }
        bounds = max(each.more["certificate"] for each in trained)
        yield {"arm": arm.title, "errors": errors, "certificate": bounds}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the geometric mean and the range of the errors of each arm."""
    lines = []
    for row in rows:
        cells = []
        for errors in row["errors"].values():
            mean, low, high = (
                statistics.geometric_mean(errors),
                min(errors),
                max(errors),
            )
            cells.append(f"{mean:.4f} ({low:.4f} to {high:.4f})")
        lines.append([row["arm"], *cells, f"{row['certificate']:.6f}"])
    columns = ["activation", *(f"RMSE, learning rate {rate:g}" for rate in RATES)]
    return markdown_table([*columns, "largest certificate"], lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certified_causes")
    parser.add_argument("--dataset", choices=certified.FUNCTIONS, default="absolute")
    parser.add_argument("--steps", type=int, default=certified.TASK.settings.steps)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER")
    options = parser.parse_args(argv)
    rows = []
    for row in measure(options.dataset, options.steps, options.seeds):
        rows.append(row)
        print(row["arm"], row["errors"], flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    content = {
        "dataset": options.dataset,
        "steps": options.steps,
        "seeds": list(options.seeds),
        "environment": environment(),
        "rows": rows,
    }
    path = options.output / f"{options.dataset}.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    seeds = f"{len(options.seeds)} seeds, {options.steps} steps"
    text = f"Dataset `{options.dataset}`, {seeds}: geometric mean and range.\n\n"
    path.with_suffix(".md").write_text(text + table(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
