"""`Task` and `Problem`: what the map trains, as data and functions of tensors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import keras
import numpy as np

from keras_vaf.experiments.activation_map.arm import Arm
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer, check_positive

Apply = Callable[[Any], Tensor]
Batch = dict[str, Any]

RATES = (0.0003, 0.001, 0.003, 0.01)
"""Learning rates that are tried for every arm; neighbours differ by about 3."""


@dataclass(frozen=True)
class Problem:
    """One dataset of a task: networks, loss, and errors.

    `loss`, `validation` and `error` take `apply`, which computes the network on a
    tensor, and a dictionary of tensors. They are compiled, for many networks at once.

    Attributes:
        network: `network(arm, seed)` returns a built, uncompiled model.
        loss: `loss(apply, batch)` returns a scalar: the training loss.
        validation: `validation(apply, held)` returns a scalar, which selects the
            learning rate. Lower is better. It must not use test data.
        error: `error(apply, held)` returns the test error. Lower is better.
        phases: Training data: one dictionary of arrays for each phase of training,
            whose first axes are the rows. Most problems have one.
        held: Arrays for `validation` and `error`: one dictionary for each phase.
        scored: Number of phases, counted from the last, whose errors are averaged.
        forward_mode: Whether the loss differentiates the network in forward mode.
        inspect: Takes a trained model and returns further numbers for the report.
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
    """How the networks of a task are trained: Adam, for equally many steps.

    Attributes:
        steps: Number of steps of each phase.
        batch: Rows of a mini-batch; 0 takes all rows.
        rates: Learning rates that are tried.
        choice_seeds: Seeds of the networks that choose the learning rate.
        seeds: Seeds of the networks that are scored; others than those.
        decay: Whether the learning rate falls to 0, as half a cosine.
        size: Name of the size of the problem: `"full"` or `"quick"`.

    Raises:
        ValueError: If a number is out of its range, or the seeds overlap.
    """

    steps: int
    batch: int = 0
    rates: tuple[float, ...] = RATES
    choice_seeds: tuple[int, ...] = (100, 101)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    decay: bool = True
    size: str = "full"

    @classmethod
    def quick(cls, steps: int, batch: int = 0, **fields: Any) -> Settings:
        """Return settings of the quick form: one learning rate and few seeds."""
        few = {"rates": (0.003,), "choice_seeds": (100,), "seeds": (0, 1)}
        return cls(steps, batch, **(few | {"size": "quick"} | fields))

    def __post_init__(self) -> None:
        """Refuse numbers that are out of range."""
        check_integer("steps", self.steps)
        check_integer("batch", self.batch, minimum=0)
        for place, rate in enumerate(self.rates):
            check_positive(f"rates[{place}]", rate)
        if {*self.choice_seeds} & {*self.seeds}:
            raise ValueError(
                "The seeds that choose the learning rate must not be scored. "
                f"Received: choice_seeds={self.choice_seeds}, seeds={self.seeds}"
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
        arms: What is compared.
        settings: How the networks are trained.
        quick: The same for a run that only shows that everything works.
        make: `make(dataset, settings)` returns the problem.
        measure: What the error is, in words.
        counts: Whether the task is among those of which the gains are counted.
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
        """Return the arms of some names, in the order of the task.

        Args:
            names: Names of arms; those that the task does not have are left out. None
                stands for all.
        """
        return tuple(arm for arm in self.arms if not names or arm.name in names)
