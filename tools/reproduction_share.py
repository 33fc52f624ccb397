"""Share of the experiments that was run: `python -m tools.reproduction_share`.

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
from typing import NamedTuple

from keras_vaf.datasets import Dataset, load
from keras_vaf.experiments import read_reports
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.research.paper import EXPERIMENTS, Form
from keras_vaf.research.paper.experiment import Experiment
from keras_vaf.research.paper.fully_connected import SMALL
from keras_vaf.research.paper.ours import ARCHITECTURES
from keras_vaf.utils import markdown_table, write_atomically

FOLDER = Path("docs/reports/reproduction")
SEEDS = 3
_TABLES = ("regression", "classification")


@dataclass(frozen=True)
class Stage:
    """A part of the trainings: a form, and the seeds of small data."""

    name: str
    form: Form
    seeds: int = SEEDS


STAGES = (
    Stage("paper", Form("paper")),
    Stage("ours", Form("ours")),
)
FIRST = Stage("ours, stage 1", Form("ours", architectures=ARCHITECTURES), seeds=1)
"""The first stage of protocol ours, on the data of both tables and Sensorless."""

_DRAWN = ("curves",)  # trains what other experiments train

Key = tuple[str, int, int]
Kind = tuple[str, str, str]


class Pace(NamedTuple):
    """Cost of a row in an epoch: seconds, and floating-point operations."""

    seconds: float
    flops: float


@dataclass
class Share:
    """Trainings of an experiment: all of them, those that were run, and what is left.

    The latter in seconds, and in floating-point operations.
    """

    trainings: int = 0
    run: int = 0
    seconds: float = 0.0
    left: float = 0.0
    left_flops: float = 0.0


def share_of(
    experiment: Experiment,
    stage: Stage,
    found: dict[Key, Report],
    pace: dict[Kind, Pace],
) -> Share:
    """Count the trainings of an experiment, and estimate what is left."""
    share = Share()
    for name in experiment.datasets_of(stage.form.manner):
        dataset = _loaded(name)
        for protocol in experiment.protocols(dataset, stage.form):
            alone = replace(protocol, replicas=1)
            for seed in range(stage.seeds if name in SMALL else 1):
                for fold in range(protocol.folds):
                    share.trainings += protocol.trials
                    report = found.get((alone.digest, seed, fold))
                    if report:
                        share.run += protocol.trials
                        share.seconds += report.seconds
                    else:
                        rows = _training_rows(protocol, len(dataset.x))
                        passes = rows * protocol.epochs * protocol.trials
                        own = _pace_of(protocol, pace)
                        share.left += passes * own.seconds
                        share.left_flops += passes * own.flops
    return share


@functools.cache
def _loaded(name: str) -> Dataset:
    """Return data that several experiments and protocols share."""
    return load(name)


def paces(reports: Sequence[Report]) -> dict[Kind, Pace]:
    """Return medians of each kind of network. Backward is twice as much as forward."""
    found: dict[Kind, list[Pace]] = {}
    for report in reports:
        passes = sum(trial.epochs for trial in report.trials) * report.rows["train"]
        pace = Pace(report.seconds / passes, 3 * report.flops)
        found.setdefault(_kind(report.protocol), []).append(pace)
    return {
        kind: Pace(*map(statistics.median, zip(*each, strict=True)))
        for kind, each in found.items()
    }


def _kind(protocol: Protocol) -> Kind:
    """Return what the pace depends on: for images, also on their size."""
    name = protocol.architecture.name
    return name, "" if name == "mlp" else protocol.dataset, protocol.optimizer.name


def _pace_of(protocol: Protocol, pace: dict[Kind, Pace]) -> Pace:
    """Return the pace of such networks; without a report, the slowest on such data."""
    own = _kind(protocol)
    alike = [pace[kind] for kind in pace if kind[1] == own[1]]
    return pace.get(own, max(alike, default=Pace(math.nan, math.nan)))


def _training_rows(protocol: Protocol, rows: int) -> int:
    tested = protocol.test_rows or rows * (protocol.test_fraction or 1 / protocol.folds)
    return round((rows - tested) * (1 - protocol.validation_fraction))


def markdown(shares: dict[tuple[str, str], Share]) -> str:
    """Return the table."""
    lines = [
        "# How much was run",
        "",
        "Made by `python -m tools.reproduction_share`. Trainings of the full "
        f"protocols ({SEEDS} seeds for data of fewer than 5,000 rows, one for the "
        "others), those that the reports hold, the hours that they took on two cores, "
        "and upper estimates for the rest, in such hours and in 10^15 floating-point "
        "operations.",
        "",
    ]
    columns = ["experiment", "protocol", "trainings", "run", "share", "hours"]
    columns += ["hours left", "PFLOP left"]
    rows = [
        [
            *(name, manner, f"{share.trainings:,}", f"{share.run:,}"),
            f"{share.run / share.trainings:.0%}",
            *(_known(seconds / 3600) for seconds in (share.seconds, share.left)),
            _known(share.left_flops / 1e15),
        ]
        for (name, manner), share in shares.items()
    ]
    return "\n".join([*lines, markdown_table(columns, rows, text_columns=2)]) + "\n"


def _known(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:,.1f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.reproduction_share", description=__doc__
    )
    parser.add_argument("--reports", type=Path, default=FOLDER)
    parser.add_argument("--output", type=Path, default=FOLDER / "share.md")
    options = parser.parse_args(argv)
    reports = [
        report
        for path in sorted(options.reports.rglob("*.json.xz"))
        for report in read_reports(path)
    ]
    found = {
        (replace(each.protocol, replicas=1).digest, each.seed, each.fold): each
        for each in reports
    }
    pace = paces(reports)
    shares = {
        (experiment.name, stage.name): share_of(experiment, stage, found, pace)
        for experiment in EXPERIMENTS
        if experiment.name not in _DRAWN
        for stage in (*STAGES, *([FIRST] if experiment.name in _TABLES else []))
    }
    write_atomically(options.output, markdown(shares))
    print(f"Written to {options.output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
