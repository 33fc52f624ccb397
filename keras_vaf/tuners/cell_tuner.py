"""`cell_tuner`, which returns a tuner whose trials are cells of a comparison."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from keras_vaf.experiments.best import Arm
from keras_vaf.experiments.protocol import Protocol, with_replicas
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.selection import by_protocol
from keras_vaf.experiments.variants import SEARCHED
from keras_vaf.training import recipe
from keras_vaf.tuners.recorded.tuner import RecordedTuner
from keras_vaf.tuners.results import fold_metrics
from keras_vaf.tuners.space import SearchSpace, activation
from keras_vaf.utils import check_choice, check_integer, require

if TYPE_CHECKING:
    from keras_tuner.engine.trial import Trial

TrainCells = Callable[[Sequence[Protocol]], Sequence[Report]]


TUNERS = {
    "random": "RandomSearch",
    "bayesian": "BayesianOptimization",
    "grid": "GridSearch",
    "hyperband": "Hyperband",
}
"""Classes of KerasTuner, by the names of the command line."""

_lower, _higher = recipe.further_rates(*(recipe.LEARNING_RATES,) * 3)
LEARNING_RATES = (_lower, *recipe.LEARNING_RATES, _higher)
"""Those of the recipe, and a further one at each end."""

# `max_epochs` by number of trials. With more trials, Hyperband would draw more
# configurations than the paper's grid has.
_HYPERBAND = {70: 27, 23: 9, 6: 3}


class CellTuner(RecordedTuner):
    """A mixin that trains each trial as the cells of a protocol, one for each fold.

    The score of a trial is the mean validation score of its cells.

    Args:
        *args: Arguments of the tuner.
        protocol_of: Function that returns the protocol of a trial's values.
        **kwargs: Arguments of the tuner. `objective` is the metric of the protocols.
    """

    def __init__(
        self,
        *args: Any,
        protocol_of: Callable[[dict[str, Any]], Protocol],
        **kwargs: Any,
    ) -> None:
        self._protocol_of = protocol_of
        self._reports: dict[str, list[Report]] = {}
        super().__init__(*args, **kwargs)

    def search_cells(self, train: TrainCells) -> None:
        """Run the remaining trials.

        Args:
            train: Function that trains the missing cells of protocols and returns the
                reports of all their cells.

        Raises:
            RuntimeError: If too many consecutive trials failed.
        """
        self.oracle.verbose = 0
        while (trial := self.next_trial()) is not None:
            self._reports = by_protocol(train([self.protocol(trial)]))
            self.end(trial)

    def protocol(self, trial: Trial) -> Protocol:
        """Return the protocol of a trial."""
        return self._protocol_of(trial.hyperparameters.values)

    def protocols(self) -> list[Protocol]:
        """Return the protocols of all completed trials."""
        trials = self.oracle.trials.values()
        return distinct(self.protocol(t) for t in trials if t.status == "COMPLETED")

    def run_trial(self, trial: Trial) -> dict[str, float]:
        """Return the mean validation score of the cells of a trial, and of each fold.

        Raises:
            FloatingPointError: If a training had no finite epoch.
        """
        reports = self._reports[replace(self.protocol(trial), replicas=1).digest]
        arm = Arm.of(reports)
        if math.isinf(arm.error):
            raise FloatingPointError("The loss was not finite in any epoch of a fold.")
        metric = arm.protocol.metric
        scores = [each.validation[metric] or 0.0 for each in arm.trials]
        epochs = [each.best_epoch for each in arm.trials]
        seconds = sum(report.seconds for report in reports)
        return {metric: arm.score, **fold_metrics(scores, epochs, seconds)}


def distinct(protocols: Iterable[Protocol]) -> list[Protocol]:
    """Return protocols without repetitions, which Hyperband may draw."""
    return list({protocol.digest: protocol for protocol in protocols}.values())


def number_of_trials(tuner: str, trials: int) -> int:
    """Return the number of trials that a tuner runs.

    Args:
        tuner: A key of `TUNERS`.
        trials: Largest number of trials.

    Raises:
        ValueError: If there are too few trials.
    """
    check_choice("tuner", tuner, TUNERS)
    least = min(_HYPERBAND) if tuner == "hyperband" else 1
    check_integer("trials", trials)
    if trials < least:
        raise ValueError(
            f"`trials` must be at least {least} for the tuner {tuner!r}. "
            f"Received: trials={trials}"
        )
    if tuner != "hyperband":
        return trials
    return max(number for number in _HYPERBAND if number <= trials)


def cell_tuner(
    name: str, trials: int, vaf: Protocol, folder: Path, seed: int
) -> CellTuner:
    """Return the tuner, with the finished trials of its folder.

    Args:
        name: A key of `TUNERS`.
        trials: Number of trials.
        vaf: The protocol of the VAF, without the drawn values.
        folder: Folder of the search.
        seed: Seed of the trials.
    """
    keras_tuner = require("keras_tuner", extra="tune")
    most = _HYPERBAND.get(trials, 1) if name == "hyperband" else 1
    budget = {"max_epochs": most, "factor": 3} if most > 1 else {"max_trials": trials}
    kind = getattr(keras_tuner, TUNERS[name])
    tuner = type(f"Cell{kind.__name__}", (CellTuner, kind), {})(
        _draw,
        protocol_of=lambda values: _protocol(vaf, values, most),
        objective=keras_tuner.Objective(vaf.metric, direction_of(vaf.metric)),
        seed=seed + 1,  # KerasTuner ignores the seed 0
        directory=folder,
        project_name="trials",
        **budget,
    )
    return tuner


def direction_of(metric: str) -> Literal["min", "max"]:
    """Return `"max"` if higher values of a metric are better, else `"min"`."""
    return "max" if metric == "accuracy" else "min"


def _draw(hp: Any) -> None:
    """Draw the values of a trial."""
    activation(hp)
    hp.Choice("learning_rate", list(LEARNING_RATES))


def _protocol(vaf: Protocol, values: dict[str, Any], most: int) -> Protocol:
    """Return the protocol of a trial.

    Args:
        vaf: The protocol without the drawn values.
        values: The values, among them Hyperband's share of the epochs.
        most: Hyperband's number for all epochs.
    """
    names = (field.name for field in dataclasses.fields(SearchSpace))
    variant = replace(SEARCHED, arguments={name: values[name] for name in names})
    epochs = math.ceil(vaf.epochs * values.get("tuner/epochs", most) / most)
    rates = (values["learning_rate"],)
    own = replace(vaf, variant=variant, rates=rates, epochs=epochs, starts=1)
    return with_replicas(own, "auto")
