"""Tables made from reports, and from nothing else."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report

COLUMNS = (
    "activation",
    "mean",
    "deviation",
    "wins",
    "ties",
    "losses",
    "parameters",
    "FLOPs",
    "seconds",
)


@dataclass(frozen=True)
class Row:
    """One arm of a comparison, over all its seeds and folds.

    Attributes:
        title: The activation.
        scores: Test score per seed and fold.
        parameters: Number of trained parameters.
        flops: Floating-point operations of one sample, if the reports have them.
        seconds: Wall-clock seconds of all its trainings together.
        wins: Folds on which it is better than the first arm; `None` in that arm's row.
        ties: Folds on which both have the same score.
        losses: Folds on which it is worse.
    """

    title: str
    scores: tuple[float, ...]
    parameters: int
    flops: int | None
    seconds: float
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return statistics.fmean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores (n - 1), 0 for a single one."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0


def summarise(reports: Sequence[Report]) -> tuple[Row, ...]:
    """Return one row per protocol, in order of appearance, compared with the first.

    Args:
        reports: Reports of one dataset; every protocol with the same seeds and folds.

    Raises:
        ValueError: If there are no reports, or arms lack a fold that others have.
    """
    arms = by_arm(reports)
    first = next(iter(arms.values()), [])
    folds = [[(report.seed, report.fold) for report in arm] for arm in arms.values()]
    if not first or any(arm != folds[0] for arm in folds):
        raise ValueError(
            "A comparison needs the same seeds and folds for every arm. Received: "
            f"{dict(zip(arms, map(len, folds), strict=True))} reports per arm"
        )
    return tuple(_row(arm, first) for arm in arms.values())


def by_arm(reports: Sequence[Report]) -> dict[str, list[Report]]:
    """Return the reports of each protocol, by its hash, ordered by seed and fold.

    The number of networks that were trained together makes no other protocol here.
    """
    arms: dict[str, list[Report]] = {}
    for report in reports:
        alone = replace(report.protocol, replicas=1)
        arms.setdefault(alone.digest, []).append(report)
    return {
        digest: sorted(arm, key=lambda report: (report.seed, report.fold))
        for digest, arm in arms.items()
    }


def markdown(reports: Sequence[Report]) -> str:
    """Return a comparison's table, with what one must know to read it.

    Args:
        reports: The reports of a comparison.

    Returns:
        A heading, a table and a list of notes in Markdown.
    """
    lines = [COLUMNS, ("---", *["---:"] * (len(COLUMNS) - 1)), *lines_of(reports)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "\n".join(f"- {note}" for note in notes_of(reports))
    return f"# {title_of(reports)}\n\n{table}\n\n{notes}\n"


def title_of(reports: Sequence[Report]) -> str:
    """Return what a comparison's table shows."""
    protocol = reports[0].protocol
    hidden = "-".join(map(str, protocol.hidden))
    return f"{metric_title(protocol)} on {protocol.dataset}, hidden layers {hidden}"


def metric_title(protocol: Protocol) -> str:
    """Return the metric's name as readers know it."""
    return {"accuracy": "Accuracy", "rmse": "RMSE"}[protocol.metric]


def baseline_title(protocol: Protocol) -> str:
    """Return the name of the predictor that ignores its inputs."""
    return {"accuracy": "majority class", "rmse": "constant (mean)"}[protocol.metric]


def lines_of(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    """Return the table's lines as text: the arms, then the constant predictor."""
    protocol = reports[0].protocol
    digits = "{:.4f}" if protocol.metric == "accuracy" else "{:.4g}"
    lines = []
    for row in summarise(reports):
        counts = (row.wins, row.ties, row.losses)
        lines.append(
            (
                row.title,
                digits.format(row.mean),
                digits.format(row.deviation),
                *("" if count is None else str(count) for count in counts),
                f"{row.parameters:,}",
                "" if row.flops is None else f"{row.flops:,}",
                f"{row.seconds:.1f}",
            )
        )
    constant = digits.format(constant_score(reports))
    return [*lines, (baseline_title(protocol), constant, *[""] * 7)]


def constant_score(reports: Sequence[Report]) -> float:
    """Return the mean score of the predictor that ignores its inputs."""
    first = next(iter(by_arm(reports).values()))
    return statistics.fmean(r.baseline[r.protocol.metric] for r in first)


def notes_of(reports: Sequence[Report]) -> list[str]:
    """Return the sentences under the table: what was done, and what it means."""
    protocol = reports[0].protocol
    folds = f"{protocol.folds}-fold cross-validation"
    if protocol.task == "classification":
        folds = f"Stratified {folds}"
    seeds = sorted({report.seed for report in reports})
    named = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    better = "Higher" if protocol.metric == "accuracy" else "Lower"
    steps = ", ".join(f"{k} {v}" for k, v in protocol.optimizer.arguments.items())
    batch = f"batches of {protocol.batch_size}" if protocol.batch_size else "full batch"
    last = max(report.selected.best_epoch for report in reports)
    places = {(r.environment["backend"], r.environment["device"]) for r in reports}
    environments = {json.dumps(r.environment, sort_keys=True) for r in reports}
    mixed = (
        f"The trainings ran in {len(environments)} different environments (versions, "
        "devices), which report.json names."
    )
    return [
        f"{folds}, {named}. {better} is better; the deviation is that of the test "
        "folds.",
        f"Wins, ties and losses count the folds against {protocol.variant.title}. They "
        "are no test of significance.",
        f"{protocol.optimizer.name} ({steps}), {batch}, at most {protocol.epochs} "
        "epochs. Tested with the weights of the best validation epoch, at the latest "
        f"epoch {last}.",
        _rates_note(protocol),
        "FLOPs are those of one sample's way through the network; each elementary "
        "operation of an activation counts as one.",
        "Seconds are those of all trainings of a line, on "
        f"{', '.join(f'{backend} ({device})' for backend, device in sorted(places))}.",
        *([mixed] if len(environments) > 1 else []),
    ]


def _rates_note(protocol: Protocol) -> str:
    if not protocol.rates:
        return "Hyper-parameters were not searched (selection: none)."
    rates = ", ".join(f"{rate:.4g}" for rate in protocol.rates)
    return (
        f"Learning rates tried: {rates}. In each fold the one with the best score on "
        "the validation rows was taken (selection: validation)."
    )


def _row(arm: list[Report], first: list[Report]) -> Row:
    sign = 1 if arm[0].protocol.metric == "accuracy" else -1
    gains = [sign * (a.score - b.score) for a, b in zip(arm, first, strict=True)]
    row = Row(
        arm[0].protocol.variant.title,
        tuple(report.score for report in arm),
        arm[0].parameters,
        arm[0].flops,
        sum(report.seconds for report in arm),
    )
    if arm is first:
        return row
    return replace(
        row,
        wins=sum(gain > 0 for gain in gains),
        ties=sum(gain == 0 for gain in gains),
        losses=sum(gain < 0 for gain in gains),
    )
