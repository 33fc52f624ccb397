"""`ResumableOracle`, an oracle of KerasTuner that keeps every finished trial."""

from __future__ import annotations

import functools
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.resumable.repair import (
    load_trials,
    read_state,
    reconcile,
    restore_grid,
)
from keras_vaf.utils import write_atomically

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial
else:
    Oracle = object


class ResumableOracle(Oracle):
    """The mixin that `make_resumable` adds to an oracle of KerasTuner.

    The files of the oracle are complete at any time, and are repaired when a search is
    resumed.

    Attributes:
        notes: Repairs that were made when the search was resumed.
    """

    notes: tuple[str, ...] = ()
    _failure: str | None = None
    _failures = 0

    def create_trial(self, tuner_id: str) -> Trial:
        """Return the next trial (see `keras_tuner.Oracle`).

        Raises:
            RuntimeError: If too many consecutive trials failed.
        """
        if self._failure:
            raise RuntimeError(self._failure)
        trial = super().create_trial(tuner_id)
        if trial.status == "RUNNING":  # possibly a retry after a failure or a crash
            trial.metrics = type(trial.metrics)()
        return trial

    def get_best_trials(self, num_trials: int = 1) -> list[Trial]:
        """Return the best of the completed trials."""
        best = super().get_best_trials(num_trials)
        return [trial for trial in best if trial.status == "COMPLETED"]

    def save(self) -> None:
        """Write the state of the search atomically."""
        write_atomically(self._get_oracle_fname(), json.dumps(self.get_state()))

    def reload(self) -> None:
        """Continue from the files of the search, and repair incomplete files."""
        folder = Path(self._project_dir)
        self.trials, incomplete = load_trials(folder)
        state, notes = read_state(self, folder)
        notes += reconcile(self, state, incomplete)
        self.notes = tuple(notes)
        for trial_id in incomplete:
            self._draw_again(trial_id)
        restore_grid(self)

    def _draw_again(self, trial_id: str) -> None:
        """Replace a trial whose file is incomplete by a new one."""
        from keras_tuner.engine.trial import Trial

        hyperparameters = self.hyperparameters.copy()
        hyperparameters.values = dict(self._random_values() or hyperparameters.values)
        trial = Trial(hyperparameters, trial_id=trial_id, status="RUNNING")
        self.trials[trial_id] = trial
        self._record_values(trial)
        self._save_trial(trial)

    def _save_trial(self, trial: Trial) -> None:
        path = Path(self._get_trial_dir(trial.trial_id)) / "trial.json"
        write_atomically(path, json.dumps(trial.get_state()))

    def _check_consecutive_failures(self) -> None:
        # KerasTuner would raise here before it saves, without releasing its lock.
        last = self.trials[self.end_order[-1]]
        self._failures = self._failures + 1 if last.status == "FAILED" else 0
        if self._failures >= self.max_consecutive_failed_trials:
            self._failure = (
                f"{self._failures} consecutive trials failed, and the search was "
                f"stopped. The last error:\n{last.message or 'see its error.txt'}"
            )


def make_resumable(oracle: Oracle) -> None:
    """Turn any oracle of a tuner into a `ResumableOracle`."""
    # KerasTuner calls deprecated functions of Python in every trial.
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="keras_tuner")
    oracle.__class__ = _resumable(oracle.__class__)


@functools.lru_cache(maxsize=64)
def _resumable(kind: type[Any]) -> type:
    return type(f"Resumable{kind.__name__}", (ResumableOracle, kind), {})
