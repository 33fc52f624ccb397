"""`Task`, a row of the map, and `Problem`, the networks and errors of a dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import keras
import numpy as np

from keras_vaf.research.map.arm import Arm
from keras_vaf.training.recipe import LEARNING_RATES
from keras_vaf.types import Tensor
from keras_vaf.utils import (
    check_distinct,
    check_integer,
    check_positive,
    check_seeds,
)

Apply = Callable[[Any], Tensor]
Batch = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """One dataset of a task: its networks, loss and errors.

    `loss`, `validation` and `error` take `apply`, a function that computes the output
    of the network for a tensor, and a dictionary of tensors. They are compiled for many
    networks at once.

    Attributes:
        network: `network(arm, seed)` returns a built model that is not compiled.
        loss: `loss(apply, batch)` returns the training loss, a scalar.
        validation: `validation(apply, held)` returns the validation error, a scalar
            that selects the learning rate. Lower is better. It must not use test data.
        error: `error(apply, held)` returns the test error, a scalar. Lower is better.
        phases: Training data: one dictionary of arrays per phase of training, with rows
            as first axes. Most problems have one phase.
        held: Arrays for `validation` and `error`: one dictionary per phase.
        scored: Number of phases, counted from the last, whose errors are averaged.
        forward_mode: Whether the loss differentiates the network in forward mode.
        inspect: Function that takes a trained model and returns other figures for the
            report.
    """

    network: Callable[[Arm, int], keras.Model]
    loss: Callable[[Apply, Batch], Tensor]
    validation: Callable[[Apply, Batch], Tensor]
    error: Callable[[Apply, Batch], Tensor]
    phases: tuple[dict[str, np.ndarray], ...]
    held: tuple[dict[str, np.ndarray], ...]
    scored: int = 1
    forward_mode: bool = False
    inspect: Callable[[keras.Model], dict[str, float]] | None = None


@dataclass(frozen=True)
class Settings:
    """Settings of the training of a task's networks, with Adam and equal steps.

    Attributes:
        steps: Number of steps per phase.
        batch: Rows per mini-batch; 0 uses all rows.
        rates: Learning rates to select from.
        choice_seeds: Seeds of the networks that select the learning rate.
        seeds: Seeds of the networks that are scored, different from `choice_seeds`.
        decay: Whether the learning rate decays to 0 by a half cosine.
        size: Name of the size of the problem: `"full"` or `"quick"`.

    Raises:
        ValueError: If a number is out of its range or occurs twice, or if the seeds
            overlap.
    """

    steps: int
    batch: int = 0
    rates: tuple[float, ...] = LEARNING_RATES
    choice_seeds: tuple[int, ...] = (100, 101)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    decay: bool = True
    size: str = "full"

    @classmethod
    def quick(cls, steps: int, batch: int = 0, **fields: Any) -> Settings:
        """Return settings of the quick version: one learning rate and two seeds.

        Selection has as many seeds as the scores, so that one compiled program serves
        both.
        """
        few = {"rates": (0.003,), "seeds": (0, 1)}
        return cls(steps, batch, **(few | {"size": "quick"} | fields))

    def __post_init__(self) -> None:
        """Raise a `ValueError` for numbers that are out of range."""
        check_integer("steps", self.steps)
        check_integer("batch", self.batch, minimum=0)
        for place, rate in enumerate(self.rates):
            check_positive(f"rates[{place}]", rate)
        check_distinct("rates", self.rates)
        check_seeds("choice_seeds", self.choice_seeds)
        check_seeds("seeds", self.seeds)
        if {*self.choice_seeds} & {*self.seeds}:
            raise ValueError(
                "The seeds that select the learning rate must not be scored. Received: "
                f"choice_seeds={self.choice_seeds}, seeds={self.seeds}"
            )

    @property
    def digest(self) -> str:
        """Eight digits of the hash of all fields except the scored seeds."""
        fields = {k: v for k, v in asdict(self).items() if k != "seeds"}
        text = json.dumps(fields, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Task:
    """A row of the map.

    Attributes:
        name: Short name, used in file names and on the command line.
        title: Name in the table and the picture.
        datasets: Names of the datasets.
        arms: The arms that are compared.
        settings: Settings of the training.
        quick: Settings of the quick version, which only checks that everything works.
        make: `make(dataset, settings)` returns the problem.
        measure: Description of the error.
        counts: Whether the task counts in the number of wins.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    arms: tuple[Arm, ...]
    settings: Settings
    quick: Settings
    make: Callable[[str, Settings], Problem] = field(compare=False)
    measure: str = "RMSE"
    counts: bool = True

    def chosen(self, names: Sequence[str]) -> tuple[Arm, ...]:
        """Return the arms with given names, in the order of the task.

        Args:
            names: Names of arms. Names that the task does not have are ignored. An
                empty sequence means all arms.
        """
        return tuple(arm for arm in self.arms if not names or arm.name in names)
