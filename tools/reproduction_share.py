"""Share of the experiments that was run: `python -m tools.reproduction_share`.

Counts the trainings of the full protocols, with three seeds for the data of fewer than
5,000 rows, and those of them that the committed reports hold.
"""

import argparse
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keras_vaf.datasets import Dataset, load
from keras_vaf.experiments import read_reports
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


@dataclass
class Share:
    """Numbers of all trainings and of those that were run, and their seconds."""

    trainings: int = 0
    run: int = 0
    seconds: float = 0.0


def share_of(experiment: Experiment, stage: Stage, found: dict[Key, Report]) -> Share:
    """Count the trainings of an experiment."""
    share = Share()
    for name in experiment.datasets_of(stage.form.manner):
        for protocol in experiment.protocols(_loaded(name), stage.form):
            digest = replace(protocol, replicas=1).digest
            for seed in range(stage.seeds if name in SMALL else 1):
                for fold in range(protocol.folds):
                    share.trainings += protocol.trials
                    if report := found.get((digest, seed, fold)):
                        share.run += protocol.trials
                        share.seconds += report.seconds
    return share


@functools.cache
def _loaded(name: str) -> Dataset:
    """Return data that several experiments and protocols share."""
    return load(name)


def markdown(shares: dict[tuple[str, str], Share]) -> str:
    """Return the table."""
    lines = [
        "# How much was run",
        "",
        "Made by `python -m tools.reproduction_share`. Trainings of the full "
        f"protocols ({SEEDS} seeds for data of fewer than 5,000 rows, one for the "
        "others), those that the reports hold, and the hours that they took on two "
        "cores.",
        "",
    ]
    columns = ["experiment", "protocol", "trainings", "run", "share", "hours"]
    rows = [
        [
            *(name, manner, f"{share.trainings:,}", f"{share.run:,}"),
            f"{share.run / share.trainings:.0%}",
            f"{share.seconds / 3600:,.1f}",
        ]
        for (name, manner), share in shares.items()
    ]
    return "\n".join([*lines, markdown_table(columns, rows, text_columns=2)]) + "\n"


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
    shares = {
        (experiment.name, stage.name): share_of(experiment, stage, found)
        for experiment in EXPERIMENTS
        if experiment.name not in _DRAWN
        for stage in (*STAGES, *([FIRST] if experiment.name in _TABLES else []))
    }
    write_atomically(options.output, markdown(shares))
    print(f"Written to {options.output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
