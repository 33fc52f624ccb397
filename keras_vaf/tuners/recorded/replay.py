"""`Replay`, which rebuilds an oracle of KerasTuner from recorded trials.

The oracle gets the recorded trials in the order in which they ended, through its public
methods. An oracle with the same seed and settings then continues as if the search had
not stopped.
"""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial

Record = dict[str, Any]


class Replay:
    """The recorded trials of an oracle, and those that it did not get yet.

    Recorded values take the place of those that the oracle proposes, which may differ
    where the space depends on the values.

    Args:
        oracle: The oracle, before its first trial.
        records: The records of the trials that ended.

    Attributes:
        left: The records that the oracle did not get yet. Trials that were started, but
            have no record, must end first.
    """

    def __init__(self, oracle: Oracle, records: Sequence[Record]) -> None:
        self.left = deque(sorted(records, key=lambda record: record["ended"]))
        self._oracle = oracle
        self._by_place = {record["place"]: record for record in records}
        self._started = {record["ended"]: record["started"] for record in records}

    def advance(self) -> None:
        """Give the oracle all records that it can take now."""
        while self.left:
            record = self.left[0]
            while len(self._oracle.trials) < record["started"]:
                if not _start(
                    self._oracle, self._by_place.get(len(self._oracle.trials))
                ):
                    return
            trials = list(self._oracle.trials.values())
            _end(self._oracle, trials[record["place"]], self.left.popleft())

    def record(self, trial: Trial) -> Record:
        """Return the record of a trial that has just ended, as JSON values.

        The record has the state that KerasTuner gives (hyperparameters, metrics, score,
        status and message), and three numbers. `"place"` counts the trials that started
        before, `"ended"` those that ended before, and `"started"` those that had
        started when this trial ended. A trial that runs again, because its record was
        lost, has the numbers of the lost record.
        """
        place = list(self._oracle.trials).index(trial.trial_id)
        ended = next(n for n in itertools.count() if n not in self._started)
        started = len(self._oracle.trials)
        if any(other > ended for other in self._started):
            started = max(place + 1, self._started.get(ended - 1, 0))
        self._started[ended] = started
        numbers = {"place": place, "ended": ended, "started": started}
        return {**numbers, **trial.get_state()}


def _start(oracle: Oracle, record: Record | None) -> bool:
    """Start the next trial; return false if others must end first."""
    if record is not None and _is_bayesian_proposal(oracle):
        # Without this, the oracle would fit its model to the trials once more.
        values = dict(record["hyperparameters"]["values"])
        oracle.populate_space = lambda _: {"status": "RUNNING", "values": values}
    try:
        trial = oracle.create_trial(f"tuner{len(oracle.trials)}")
    finally:
        vars(oracle).pop("populate_space", None)
    return trial.status == "RUNNING"


def _is_bayesian_proposal(oracle: Oracle) -> bool:
    """Return whether the next values come from a Gaussian process."""
    from keras_tuner.oracles import BayesianOptimizationOracle

    if not isinstance(oracle, BayesianOptimizationOracle):
        return False
    first = oracle.num_initial_points or max(3 * len(oracle.hyperparameters.space), 3)
    completed = [each for each in oracle.trials.values() if each.status == "COMPLETED"]
    return len(completed) >= first


def _end(oracle: Oracle, trial: Trial, state: Record) -> None:
    """End a trial with its recorded values and metrics."""
    from keras_tuner.engine.trial import Trial

    # `from_state` changes its argument.
    recorded = Trial.from_state(copy.deepcopy(state))
    trial.hyperparameters = recorded.hyperparameters
    trial.metrics = recorded.metrics
    trial.status, trial.message = recorded.status, recorded.message
    oracle.end_trial(trial)
