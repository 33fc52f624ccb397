"""`MapStudy`, two tasks of the map with native kernels, for the questions M1 to M3.

`KERAS_BACKEND=jax python -m benchmarks.evidence.map.study` measures on an idle machine
how long a step of each activation takes.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import keras

from benchmarks.environment import environment
from benchmarks.evidence.records import Records
from benchmarks.evidence.seed_answers import CHOICE_SEEDS
from keras_vaf.research.map.arm import FIXED, Arm
from keras_vaf.research.map.task import Problem, Settings, Task
from keras_vaf.research.map.tasks import oscillating, plasticity
from keras_vaf.utils import write_atomically

PRICES = Path("docs/reports/evidence/map_steps.json")
RATES = (0.001, 0.003, 0.01)
FREQUENCIES = (1.0, 1.5, 3.0)
SEEDS = tuple(range(300, 315))
OMEGA = 10.0
BASE = "plain relu"
ROUNDS, SECONDS = 15, 0.25


def _vaf(name: str, g: str, k: int = 1, **arguments: Any) -> Arm:
    return Arm(name, name, "vaf", "VAFActivation", {"k": k, "g": g, **arguments})


def fixed(name: str, frequency: float = 1.0) -> Arm:
    """Return a fixed function that the kernel of a VAF with one unit computes.

    Args:
        name: Name of the function; what follows a "-" is not part of it.
        frequency: Factor of its input.
    """
    start = keras.initializers.Constant(frequency)
    return _vaf(name, name.partition("-")[0], trainable=False, alpha_initializer=start)


ARMS = {
    each.name: each
    for each in (
        fixed("sin"),
        *(fixed(f"sin-{frequency:g}", frequency) for frequency in FREQUENCIES[1:]),
        _vaf("vaf-1", "sin"),
        _vaf("vaf-3", "sin", k=3),
        fixed("silu"),
        fixed("tanh"),
        Arm("xielu", "xielu", "rival", "XIELU"),
    )
}
"""The compared activations. Fixed ones have the native kernel, too."""

PLAIN = {each.name: each for each in FIXED if each.name != "gelu"}
"""Fixed functions without the native kernel, whose steps are measured only."""


@dataclass(frozen=True)
class Place:
    """A task and one of its datasets."""

    task: Task
    dataset: str

    @property
    def settings(self) -> Settings:
        """The settings of the task, with the registered rates and seeds."""
        return replace(
            self.task.settings, rates=RATES, choice_seeds=CHOICE_SEEDS, seeds=SEEDS
        )

    def problem(self) -> Problem:
        """Return the data, networks and errors."""
        return self.task.make(self.dataset, self.settings)

    def trainer(self, arm: Arm, problem: Problem) -> Any:
        """Return what trains an activation.

        Sines for oscillating functions start as in SIREN, like those that the map
        selects.
        """
        from keras_vaf.research.map.training_on_jax import Trainer

        sine = arm.arguments.get("g") == "sin" or arm.name == "sin"
        if self.task is oscillating.TASK and sine:
            arm = arm.with_omega(OMEGA)
        return Trainer(problem, arm, self.settings)


PLACES = (
    Place(plasticity.TASK, "mnist"),
    *(Place(oscillating.TASK, name) for name in oscillating.TASK.datasets),
)


class MapStudy:
    """All activations on all places.

    Three seeds select the learning rate of an activation, others are scored.

    Args:
        budget: Whether all have the same "time" or the same number of "steps".
        places: The tasks and datasets.
        arms: The compared activations by name.
        seeds: The scored seeds.
    """

    def __init__(
        self,
        budget: str,
        places: Sequence[Place] = PLACES,
        arms: Mapping[str, Arm] = ARMS,
        seeds: Sequence[int] = SEEDS,
    ) -> None:
        self.budget, self.places = budget, places
        self.arms, self.seeds = arms, seeds

    def trainings(self) -> int:
        """Return the number of records."""
        seeds = len(RATES) * len(CHOICE_SEEDS) + len(self.seeds)
        return len(self.places) * len(self.arms) * seeds

    def run(self, records: Records) -> None:
        """Train everything that has no record.

        Args:
            records: The finished trainings.
        """
        for place in self.places:
            problem = place.problem()
            for arm in self.arms.values():
                trainer = None
                for rate, seed in self.keys(records, place.dataset, arm.name):
                    key = place.dataset, arm.name, rate, seed
                    if records.read(*key) is not None:
                        continue
                    trainer = trainer or place.trainer(arm, problem)
                    record = train(trainer, place, arm.name, self.budget, rate, seed)
                    records.write(record, *key)
                    print(*key, flush=True)

    def keys(
        self, records: Records, dataset: str, arm: str
    ) -> Iterator[tuple[float, int]]:
        """Yield learning rates and seeds; the records select the last rate."""
        choice = list(itertools.product(RATES, CHOICE_SEEDS))
        yield from choice
        tried = [records.read(dataset, arm, *each) for each in choice]
        rate = selected_rate(tried, dataset, arm)
        yield from ((rate, seed) for seed in self.seeds)


def selected_rate(records: Any, dataset: str, arm: str) -> float:
    """Return the learning rate with the smallest mean validation error.

    Of equal ones, the smallest is returned.
    """
    errors: dict[float, list[float]] = {rate: [] for rate in RATES}
    for each in records:
        same = (each["dataset"], each["arm"]) == (dataset, arm)
        if same and each["seed"] in CHOICE_SEEDS:
            errors[each["rate"]].append(each["validation"])
    return min(RATES, key=lambda rate: statistics.fmean(errors[rate]))


def train(
    trainer: Any, place: Place, arm: str, budget: str, rate: float, seed: int
) -> dict[str, Any]:
    """Return the record of a training."""
    from keras_vaf.research.map.training_on_jax import Lane

    steps = place.settings.steps
    if budget == "time":
        steps = steps_of(place, arm, json.loads(PRICES.read_text(encoding="utf-8")))
    found = trainer.train_alone(Lane(seed, rate), steps)
    keys = {"dataset": place.dataset, "arm": arm, "rate": rate, "seed": seed}
    return {
        **keys,
        "steps": steps,
        "validation": found.validation,
        "error": found.error,
    }


def steps_of(place: Place, arm: str, prices: dict[str, Any]) -> int:
    """Return how many steps take as long as those of the task with ReLU.

    All sines with a fixed frequency have the price of the plain one. Training cannot
    make a step shorter, so this is at most that of the sine with a trained frequency.

    Args:
        place: The task.
        arm: Key of `ARMS`; what follows an "@" does not change the time.
        prices: Contents of `PRICES`.
    """
    seconds = prices["seconds"][place.task.name]
    price = seconds["sin" if arm.startswith("sin") else arm.partition("@")[0]]
    if arm.startswith("sin"):
        price = min(price, seconds["vaf-1"])
    return round(place.settings.steps * seconds[BASE] / price)


def main() -> int:
    """Measure the steps of all activations in turns."""
    medians, rounds = {}, {}
    for place in PLACES[:2]:
        problem = place.problem()
        arms = {f"plain {name}": arm for name, arm in PLAIN.items()} | ARMS
        trainers = {
            name: place.trainer(arm, problem)
            for name, arm in arms.items()
            if not name.startswith("sin-")
        }
        rough = {name: each.seconds(5) for name, each in trainers.items()}
        counts = {name: max(5, int(SECONDS / rough[name])) for name in rough}
        turns = [
            {name: each.seconds(counts[name]) for name, each in trainers.items()}
            for _ in range(ROUNDS)
        ]
        task = place.task.name
        rounds[task] = turns
        medians[task] = {
            name: statistics.median(turn[name] for turn in turns) for name in trainers
        }
    report = {"seconds": medians, "rounds": rounds, "environment": environment()}
    write_atomically(PRICES, f"{json.dumps(report, indent=1)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
