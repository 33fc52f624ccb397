"""How much was reproduced: `python -m benchmarks.reproduction_share`.

Counts the trainings of the full protocols, with three seeds for the data of fewer than
5,000 rows, and those of them that the committed reports hold. What is left is estimated
from the time that a row takes for an epoch in the reports of such networks, for all
epochs that a protocol allows: an upper bound where training ends early.
"""

import argparse
import functools
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keras_vaf.datasets import Dataset, load
from keras_vaf.experiments import EXPERIMENTS, Form, read_compact
from keras_vaf.experiments.experiment import Experiment, Manner
from keras_vaf.experiments.fully_connected import SMALL
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports import Report
from keras_vaf.utils import write_atomically

FOLDER = Path("docs/reports/reproduction")
MANNERS: tuple[Manner, ...] = ("paper", "ours")
SEEDS = 3
_DRAWN = ("curves",)  # trains what other experiments train

Key = tuple[str, int, int]
Kind = tuple[str, str, str]


@dataclass
class Share:
    """Trainings of an experiment: all of them, those that were run, and their hours."""

    trainings: int = 0
    run: int = 0
    seconds: float = 0.0
    left: float = 0.0


def share_of(
    experiment: Experiment,
    manner: Manner,
    found: dict[Key, Report],
    pace: dict[Kind, float],
) -> Share:
    """Count the trainings of an experiment, and estimate what is left."""
    share = Share()
    for name in experiment.datasets:
        dataset = _loaded(name)
        for protocol in experiment.protocols(dataset, Form(manner)):
            alone = replace(protocol, replicas=1)
            for seed in range(SEEDS if name in SMALL else 1):
                for fold in range(protocol.folds):
                    share.trainings += protocol.trials
                    report = found.get((alone.digest, seed, fold))
                    if report:
                        share.run += protocol.trials
                        share.seconds += report.seconds
                    else:
                        rows = _training_rows(protocol, len(dataset.x))
                        passes = rows * protocol.epochs * protocol.trials
                        share.left += passes * _pace_of(protocol, pace)
    return share


@functools.cache
def _loaded(name: str) -> Dataset:
    """Return data that several experiments and protocols share."""
    return load(name)


def paces(reports: Sequence[Report]) -> dict[Kind, float]:
    """Return seconds for a row and epoch: the median of each kind of network."""
    found: dict[Kind, list[float]] = {}
    for report in reports:
        passes = sum(trial.epochs for trial in report.trials) * report.rows["train"]
        found.setdefault(_kind(report.protocol), []).append(report.seconds / passes)
    return {kind: statistics.median(each) for kind, each in found.items()}


def _kind(protocol: Protocol) -> Kind:
    """Return what the pace depends on: for images, also on their size."""
    name = protocol.architecture.name
    return name, "" if name == "mlp" else protocol.dataset, protocol.optimizer.name


def _pace_of(protocol: Protocol, pace: dict[Kind, float]) -> float:
    """Return the pace of such networks; of another optimizer if there is no report."""
    own = _kind(protocol)
    alike = [pace[kind] for kind in pace if kind[:2] == own[:2]]
    return pace.get(own, max(alike, default=float("nan")))


def _training_rows(protocol: Protocol, rows: int) -> int:
    tested = protocol.test_rows or rows * (protocol.test_fraction or 1 / protocol.folds)
    return round((rows - tested) * (1 - protocol.validation_fraction))


def markdown(shares: dict[tuple[str, str], Share]) -> str:
    """Return the table."""
    lines = [
        "# How much was run",
        "",
        "Made by `python -m benchmarks.reproduction_share`. Trainings of the full "
        f"protocols ({SEEDS} seeds for data of fewer than 5,000 rows, one for the "
        "others), those that the reports hold, the hours that they took on two cores, "
        "and an upper estimate for the rest.",
        "",
        "| experiment | protocol | trainings | run | share | hours | hours left |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (name, manner), share in shares.items():
        cells = [
            *(name, manner, f"{share.trainings:,}", f"{share.run:,}"),
            f"{share.run / share.trainings:.0%}",
            *(_hours(seconds) for seconds in (share.seconds, share.left)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _hours(seconds: float) -> str:
    return "unknown" if math.isnan(seconds) else f"{seconds / 3600:.1f}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduction_share", description=__doc__
    )
    parser.add_argument("--reports", type=Path, default=FOLDER)
    parser.add_argument("--output", type=Path, default=FOLDER / "share.md")
    options = parser.parse_args(argv)
    reports = [
        report
        for path in sorted(options.reports.rglob("*.json.gz"))
        for report in read_compact(path)
    ]
    found = {
        (replace(each.protocol, replicas=1).digest, each.seed, each.fold): each
        for each in reports
    }
    pace = paces(reports)
    shares = {
        (experiment.name, manner): share_of(experiment, manner, found, pace)
        for experiment in EXPERIMENTS
        if experiment.name not in _DRAWN
        for manner in MANNERS
    }
    write_atomically(options.output, markdown(shares))
    print(f"Written to {options.output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
