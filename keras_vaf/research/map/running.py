"""`MapRun`, which trains the missing cells of the map."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import keras

from keras_vaf.experiments.reports.report import environment
from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.report import (
    LaneResult,
    MapReport,
    MapStore,
    Times,
)
from keras_vaf.research.map.task import Settings, Task
from keras_vaf.training.recipe import further_rates

Budget = Literal["steps", "time"]
_ROUNDS, _SECONDS = 7, 0.3
_QUICK_ROUNDS, _QUICK_SECONDS = 3, 0.05


class MissingError(LookupError):
    """A cell is not trained yet, and training is disabled."""


@dataclass
class MapRun:
    """Trains the cells of one dataset of a task.

    Attributes:
        task: The task.
        dataset: The dataset.
        settings: Settings of the training.
        arms: The arms to train. The grid of learning rates is extended if one of them
            selects an edge.
        store: Store of the reports.
        train: Whether missing cells are trained. If not, `MissingError` is raised.
        say: Function called with a line of text for each trained cell.
    """

    task: Task
    dataset: str
    settings: Settings
    arms: Sequence[Arm]
    store: MapStore
    train: bool = True
    say: Callable[[str], None] = print
    _trainers: dict[str, Any] = field(default_factory=dict, init=False)

    def times(self) -> Times:
        """Return the time per step of every arm, and measure missing times.

        New arms are measured together with the first fixed activation, and their times
        are scaled to its known time. Known ratios therefore do not change, and an added
        arm does not affect the number of steps of the others.
        """
        path = self.store.times_path(self.task, self.dataset, self.settings)
        known = self.store.read_times(path)
        missing = [a for a in self.arms if known is None or a.name not in known.seconds]
        if known is not None and not missing:
            return known
        self._check_train("the times")
        load, base = os.getloadavg()[0], self.base
        seconds, compilation = self._measure({a.name: a for a in (base, *missing)})
        if known is not None and base.name in known.seconds:
            scale = known.seconds[base.name] / seconds[base.name]
            seconds = {name: scale * each for name, each in seconds.items()}
            seconds |= known.seconds
            compilation |= known.compilation
            load = max(load, known.load)
        found = Times(
            self.task.name,
            self.dataset,
            self.settings,
            seconds,
            compilation,
            load,
            environment(),
        )
        self.store.write(path, found)
        self.say(f"{self.task.name} {self.dataset}: measured the time of a step")
        return found

    @property
    def base(self) -> Arm:
        """The first fixed activation, to which times per step are relative."""
        arms = self.task.arms or self.arms
        return next((arm for arm in arms if arm.kind == "fixed"), self.arms[0])

    def _measure(
        self, arms: dict[str, Arm]
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the median time per step and the time of compilation, by arm."""
        trainers = {name: self._trainer(arm) for name, arm in arms.items()}
        turns, seconds = _ROUNDS, _SECONDS
        if self.settings.size == "quick":
            turns, seconds = _QUICK_ROUNDS, _QUICK_SECONDS
        rough = {name: trainer.seconds(3) for name, trainer in trainers.items()}
        counts = {name: max(3, int(seconds / each)) for name, each in rough.items()}
        rounds = [
            {name: trainer.seconds(counts[name]) for name, trainer in trainers.items()}
            for _ in range(turns)
        ]
        medians = {name: statistics.median(r[name] for r in rounds) for name in rough}
        return medians, {name: each.compiled_in for name, each in trainers.items()}

    def steps(self, arm: Arm, budget: Budget) -> int:
        """Return the number of steps of an arm.

        At equal time, an arm whose step takes twice as long as that of the first fixed
        activation gets half as many steps.
        """
        if budget == "steps":
            return self.settings.steps
        seconds = self.times().seconds
        ratio = seconds[self.base.name] / seconds[arm.name]
        return max(1, round(self.settings.steps * ratio))

    def rates(self, budget: Budget) -> tuple[dict[str, float], tuple[float, ...]]:
        """Return the best learning rate of each arm, and the grid of learning rates.

        If an arm is best at an edge, the grid is extended there for all arms, at most
        twice at each end.
        """
        grid = tuple(sorted(self.settings.rates))
        while True:
            errors = {arm.name: self.validation(arm, budget, grid) for arm in self.arms}
            best = {
                name: min(grid, key=each.__getitem__) for name, each in errors.items()
            }
            new = further_rates(self.settings.rates, grid, best.values(), digits=6)
            if not new:
                return best, grid
            grid = tuple(sorted({*grid, *new}))

    def validation(
        self, arm: Arm, budget: Budget, grid: Sequence[float]
    ) -> dict[float, float]:
        """Return the mean validation error of an arm at each learning rate."""
        steps, seeds = self.steps(arm, budget), self.settings.choice_seeds
        first = tuple(self.settings.rates)
        parts = [first, *((rate,) for rate in grid if rate not in first)]
        lanes = [
            lane for part in parts for lane in self._cell(arm, steps, part, seeds).lanes
        ]
        return {
            rate: statistics.fmean(
                lane.validation for lane in lanes if lane.rate == rate
            )
            for rate in grid
        }

    def scores(self, arm: Arm, budget: Budget, rate: float) -> MapReport:
        """Return the report of the scored networks of an arm."""
        steps = self.steps(arm, budget)
        return self._cell(arm, steps, (rate,), self.settings.seeds)

    def run(self, budgets: Sequence[Budget] = ("steps", "time")) -> None:
        """Train everything that is missing."""
        for budget in budgets:
            best, _ = self.rates(budget)
            for arm in self.arms:
                self.scores(arm, budget, best[arm.name])
        self.forget()

    def forget(self) -> None:
        """Drop compiled programs and data, which take memory."""
        self._trainers.clear()

    def _cell(
        self, arm: Arm, steps: int, rates: tuple[float, ...], seeds: tuple[int, ...]
    ) -> MapReport:
        path = self.store.path(
            self.task, self.dataset, self.settings, arm.name, steps, rates, seeds
        )
        known = self.store.read(path)
        if known is not None:
            return known
        self._check_train(str(path))
        report = self._train(arm, steps, rates, seeds)
        self.store.write(path, report)
        numbers = ", ".join(f"{rate:g}" for rate in rates)
        purpose = "select" if seeds == self.settings.choice_seeds else "score"
        self.say(
            f"{self.task.name} {self.dataset} {arm.name}: {steps} steps to {purpose}, "
            f"learning rates {numbers}, {len(seeds)} seeds, {report.seconds:.1f} s"
        )
        return report

    def _train(
        self, arm: Arm, steps: int, rates: tuple[float, ...], seeds: tuple[int, ...]
    ) -> MapReport:
        from keras_vaf.research.map.training_on_jax import Lane

        begin = time.perf_counter()
        trainer = self._trainer(arm)
        lanes = [Lane(seed, rate) for rate in rates for seed in seeds]
        trained = trainer.train(lanes, steps)
        pairs = zip(lanes, trained, strict=True)
        results = [LaneResult(lane.seed, lane.rate, *each) for lane, each in pairs]
        seconds = time.perf_counter() - begin
        return MapReport(
            self.task.name,
            self.dataset,
            arm.name,
            asdict(arm),
            self.settings,
            steps,
            tuple(results),
            trainer.parameters,
            seconds,
            environment(),
        )

    def _trainer(self, arm: Arm) -> Any:
        check_backend()
        from keras_vaf.research.map.training_on_jax import Trainer

        if "problem" not in self._trainers:
            self._trainers["problem"] = self.task.make(self.dataset, self.settings)
        if arm.name not in self._trainers:
            problem = self._trainers["problem"]
            self._trainers[arm.name] = Trainer(problem, arm, self.settings)
        return self._trainers[arm.name]

    def _check_train(self, what: str) -> None:
        if not self.train:
            raise MissingError(f"{what} of {self.task.name}, {self.dataset}")


def check_backend() -> None:
    """Raise a `ValueError` unless the backend is JAX."""
    if keras.backend.backend() != "jax":
        raise ValueError(
            "The map is trained on JAX: set the environment variable "
            f"KERAS_BACKEND=jax. Received: {keras.backend.backend()}"
        )
