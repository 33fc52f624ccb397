"""`map_rows`, which computes the results of the map from its reports."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from keras_vaf.experiments.results.significance import (
    LEVEL,
    corrected_interval,
    corrected_t_test,
    holm,
)
from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.running import Budget, MapRun, MissingError
from keras_vaf.research.map.task import Task


@dataclass(frozen=True)
class MapRow:
    """The result of one arm on one dataset at one budget.

    Attributes:
        task: Name of the task.
        dataset: Name of the dataset.
        budget: `"steps"` or `"time"`.
        arm: The arm.
        errors: Test errors of the scored seeds, in the order of the seeds.
        validation: Validation error of the networks that selected the learning rate.
        rate: The selected learning rate.
        tries: Number of networks that were trained to select the learning rate.
        steps: Number of steps per phase.
        parameters: Number of trained parameters.
        ratio: Time per step relative to the first fixed activation; `None` if unknown.
        compilation: Time to compile the training step, in seconds; `None` if unknown.
        load: Number of runnable processes when the times were measured; `None` if
            unknown.
        more: Largest values of the other figures of the task.
        overlap: Share of the rows that one fold tests, if the errors belong to folds,
            which share training rows; 0 if the errors belong to seeds.
    """

    task: str
    dataset: str
    budget: Budget
    arm: Arm
    errors: tuple[float, ...]
    validation: float
    rate: float
    tries: int
    steps: int
    parameters: int
    ratio: float | None
    compilation: float | None
    load: float | None
    more: dict[str, float]
    overlap: float = 0.0

    @property
    def error(self) -> float:
        """Geometric mean of the test errors; infinity if a network diverged."""
        if not all(map(math.isfinite, self.errors)):
            return math.inf
        return math.exp(statistics.fmean(math.log(max(e, 1e-12)) for e in self.errors))


@dataclass(frozen=True)
class Gain:
    """The gain of an arm over another one on a dataset or task.

    Attributes:
        values: Binary logarithms of the ratios of errors, one per seed. 1 means half
            the error.
        overlap: As in `MapRow`. The test is corrected for it.
    """

    values: tuple[float, ...]
    overlap: float = 0.0

    @property
    def mean(self) -> float:
        """The mean, or minus infinity if only this arm diverged."""
        return statistics.fmean(self.values)

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the mean, paired by seed."""
        if len(self.values) < 2 or not all(map(math.isfinite, self.values)):
            return math.inf
        return corrected_interval(self.values, self.overlap)

    @property
    def ratio(self) -> float:
        """Error of the arm divided by that of the other one."""
        return float(2.0**-self.mean)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the ratio, or 0 and infinity where it has none."""
        if math.isinf(self.half_width):
            return 0.0, math.inf
        ends = self.mean + self.half_width, self.mean - self.half_width
        low, high = (float(2.0**-end) for end in ends)
        return low, high

    @property
    def ratio_text(self) -> str:
        """The ratio and its interval, if it has one, such as `"0.7 (0.5 to 0.98)"`."""
        if math.isinf(self.half_width):
            return f"{self.ratio:.3g}"
        low, high = self.interval
        return f"{self.ratio:.3g} ({low:.3g} to {high:.3g})"

    @property
    def p_value(self) -> float:
        """The two-sided p-value of a paired t-test; 1 for a single seed."""
        if len(self.values) < 2 or not all(map(math.isfinite, self.values)):
            return 1.0
        return corrected_t_test(self.values, self.overlap)


@dataclass(frozen=True)
class TaskGain:
    """The gain of the selected VAF over the selected fixed function of a task.

    Attributes:
        gain: The gain.
        p_value: Its p-value with Holm's correction over the tasks; `None` if the task
            is not tested.
    """

    gain: Gain
    p_value: float | None

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p_value is not None and self.p_value < LEVEL


def map_rows(run: MapRun, budget: Budget) -> list[MapRow]:
    """Return the rows of a dataset, or none if one of its cells is not trained.

    Args:
        run: The run of the dataset, with `train=False`.
        budget: Budget that is equal for all arms: steps or time.
    """
    try:
        best, grid = run.rates(budget)
        return [_row(run, budget, arm, best[arm.name], grid) for arm in run.arms]
    except MissingError:
        return []


def gain(arm: MapRow, reference: MapRow) -> Gain:
    """Return the gain of an arm over another one on the same dataset."""
    pairs = zip(arm.errors, reference.errors, strict=True)
    return Gain(tuple(_log_ratio(mine, other) for mine, other in pairs), arm.overlap)


def best_of(rows: Sequence[MapRow], *kinds: str) -> MapRow | None:
    """Return the row with the best validation error among arms of given kinds."""
    found = [row for row in rows if row.arm.kind in kinds]
    return min(found, key=lambda row: row.validation, default=None)


def gain_of_task(
    rows: Sequence[MapRow], arm: str = "vaf", reference: str = "fixed"
) -> Gain | None:
    """Return the gain of the selected arm of one kind over that of another kind.

    Both are selected by validation error, on each dataset. The gain of a seed is its
    mean over the datasets. If datasets have different numbers of seeds, the first ones
    are used.

    Args:
        rows: All rows of a task at one budget.
        arm: Kind of the arm.
        reference: Kind of the arm that it is compared with.
    """
    gains = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        own = [row for row in rows if row.dataset == dataset]
        mine, other = best_of(own, arm), best_of(own, reference)
        if mine is not None and other is not None:
            gains.append(gain(mine, other).values)
    if not gains:
        return None
    means = (statistics.fmean(each) for each in zip(*gains, strict=False))
    return Gain(tuple(means), max(row.overlap for row in rows))


def gains_of_tasks(
    rows: Sequence[MapRow], tasks: Sequence[Task]
) -> dict[str, TaskGain]:
    """Return the gain of the selected VAF on each task with results, by task name.

    Args:
        rows: Rows of one budget.
        tasks: The tasks. Those that count are tested, with Holm's correction.
    """
    found = {}
    for task in tasks:
        each = gain_of_task([row for row in rows if row.task == task.name])
        if each is not None:
            found[task.name] = each
    tested = [task.name for task in tasks if task.counts and task.name in found]
    p_values = holm([found[name].p_value for name in tested]) if tested else []
    of_name = dict(zip(tested, p_values, strict=True))
    return {name: TaskGain(each, of_name.get(name)) for name, each in found.items()}


def _row(
    run: MapRun, budget: Budget, arm: Arm, rate: float, grid: tuple[float, ...]
) -> MapRow:
    report = run.scores(arm, budget, rate)
    ratio = compilation = load = None
    with contextlib.suppress(MissingError):
        times = run.times()
        ratio = times.seconds[arm.name] / times.seconds[run.base.name]
        compilation, load = times.compilation.get(arm.name), times.load
    names = report.lanes[0].more
    return MapRow(
        run.task.name,
        run.dataset,
        budget,
        arm,
        tuple(lane.error for lane in report.lanes),
        run.validation(arm, budget, grid)[rate],
        rate,
        len(grid) * len(run.settings.choice_seeds),
        report.steps,
        report.parameters,
        ratio,
        compilation,
        load,
        {n: max(lane.more[n] for lane in report.lanes) for n in names},
    )


def _log_ratio(mine: float, other: float) -> float:
    """Return log2(other / mine), where one or both may be infinite."""
    if math.isinf(mine) and math.isinf(other):
        return 0.0
    if math.isinf(mine) or math.isinf(other):
        return -math.inf if math.isinf(mine) else math.inf
    return math.log2(max(other, 1e-12) / max(mine, 1e-12))
