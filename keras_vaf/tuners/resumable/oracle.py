"""An oracle of KerasTuner that loses no trial and counts none twice."""

from __future__ import annotations

import functools
import json
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.resumable.repair import (
    load_trials,
    mend,
    read_state,
    restore_grid,
)
from keras_vaf.utils import write_atomically

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial
else:
    Oracle = object


class KeptOracle(Oracle):
    """Mixed into an oracle of KerasTuner by `keep`.

    Its files are whole at any moment. A trial is lent to a worker, which has to be
    heard of again before its lease runs out; otherwise another one gets the trial. The
    first answer counts, whoever gives it, and later ones are passed over.

    Attributes:
        failure: Why the search has to end; `None` while all is well.
        notes: What had to be mended when the search was taken up again.
    """

    failure: str | None = None
    notes: tuple[str, ...] = ()

    def keep(self, lease: float, shared: bool) -> None:
        """Begin to keep the search.

        Args:
            lease: Seconds without a sign of life after which a trial is given away.
            shared: Whether workers run the trials, rather than this process.
        """
        self._lease = lease
        self.shared = shared
        self._guard = threading.RLock()
        self._beats: dict[str, float] = {}
        self._failures = 0
        self._exhausted = False
        self.heard = time.monotonic()
        self.workers: set[str] = set()

    @property
    def finished(self) -> bool:
        """Whether no trial runs, waits to be run again or is still to be drawn."""
        with self._guard:
            if self.ongoing_trials or self._retry_queue:
                return False
            drawn = bool(self.max_trials) and len(self.trials) >= self.max_trials
            return drawn or self._exhausted

    def create_trial(self, tuner_id: str) -> Trial:
        """Give a worker something to do (see `keras_tuner.Oracle`)."""
        with self._guard:
            self.expire()
            self.heard = time.monotonic()
            self.workers.add(tuner_id)
            if self.failure:
                trial = self._new_trial("", "STOPPED", {})
            else:
                trial = super().create_trial(tuner_id)
            if trial.status == "STOPPED" and self.ongoing_trials and not self.failure:
                # One of the running trials may have to be given to somebody else.
                trial.status = "IDLE"
            elif trial.status == "STOPPED":
                self._exhausted = True
                self.workers.discard(tuner_id)
            elif trial.status == "RUNNING":
                # What an earlier run of it said does not count.
                trial.metrics = type(trial.metrics)()
                self._beats[trial.trial_id] = self.heard
            return trial

    def get_trial(self, trial_id: str) -> Trial:
        """Return a trial; for a worker, also the sign that it is alive."""
        self.heard = self._beats[trial_id] = time.monotonic()
        return super().get_trial(trial_id)

    def update_trial(
        self, trial_id: str, metrics: dict[str, float], step: int = 0
    ) -> Trial:
        """Take the results of a trial, unless it has ended already."""
        with self._guard:
            trial = self.trials[trial_id]
            if not self._is_ongoing(trial_id):
                return trial
            if any(trial.metrics.exists(name) for name in metrics):
                trial.metrics = type(trial.metrics)()
            return super().update_trial(trial_id, metrics, step=step)

    def end_trial(self, trial: Trial) -> None:
        """End a trial, unless it has ended already."""
        with self._guard:
            if self._is_ongoing(trial.trial_id):
                super().end_trial(trial)

    def get_best_trials(self, num_trials: int = 1) -> list[Trial]:
        """Return the best of the trials that were completed."""
        best = super().get_best_trials(num_trials)
        return [trial for trial in best if trial.status == "COMPLETED"]

    def expire(self) -> None:
        """Take back the trials of workers that were not heard of for too long."""
        with self._guard:
            now = time.monotonic()
            for tuner_id, trial in list(self.ongoing_trials.items()):
                beat = self._beats.setdefault(trial.trial_id, now)
                if self.shared and now - beat > self._lease:
                    self.release(tuner_id)

    def release(self, tuner_id: str) -> None:
        """Take back the trial of a worker that will not come back."""
        with self._guard:
            self.workers.discard(tuner_id)
            trial = self.ongoing_trials.pop(tuner_id, None)
            if trial is not None:
                self._retry_queue.append(trial.trial_id)
                self.save()

    def save(self) -> None:
        """Write the state of the search, whole or not at all."""
        write_atomically(self._get_oracle_fname(), json.dumps(self.get_state()))

    def reload(self) -> None:
        """Go on from the files of the search, and mend what is torn among them."""
        folder = Path(self._project_dir)
        self.trials, torn = load_trials(folder)
        state, notes = read_state(self, folder)
        notes += mend(self, state, torn)
        self.notes = tuple(notes)
        for trial_id in torn:
            self._draw_again(trial_id)
        restore_grid(self)

    def _draw_again(self, trial_id: str) -> None:
        """Put a trial in the place of one whose file is torn."""
        values = self._random_values() or self.hyperparameters.values
        trial = self._new_trial(trial_id, "RUNNING", values)
        self.trials[trial_id] = trial
        self._record_values(trial)
        self._save_trial(trial)

    def _new_trial(self, trial_id: str, status: str, values: dict[str, Any]) -> Trial:
        from keras_tuner.engine.trial import Trial

        hyperparameters = self.hyperparameters.copy()
        hyperparameters.values = dict(values)
        return Trial(hyperparameters, trial_id=trial_id, status=status)

    def _is_ongoing(self, trial_id: str) -> bool:
        return any(t.trial_id == trial_id for t in self.ongoing_trials.values())

    def _save_trial(self, trial: Trial) -> None:
        path = Path(self._get_trial_dir(trial.trial_id)) / "trial.json"
        write_atomically(path, json.dumps(trial.get_state()))

    def _check_consecutive_failures(self) -> None:
        # KerasTuner raises here: before it saves, and with its lock held.
        last = self.trials[self.end_order[-1]]
        self._failures = self._failures + 1 if last.status == "FAILED" else 0
        if self._failures >= self.max_consecutive_failed_trials:
            self.failure = (
                f"{self._failures} trials in a row failed, and the search was stopped. "
                f"The last one:\n{last.message or 'see its error.txt'}"
            )


def keep(oracle: Oracle, lease: float, shared: bool) -> None:
    """Make an oracle a `KeptOracle`, whatever it is.

    Args:
        oracle: The oracle of a tuner.
        lease: As in `KeptOracle.keep`.
        shared: As in `KeptOracle.keep`.
    """
    # KerasTuner's own, of calls that Python will remove, with every trial.
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="keras_tuner")
    oracle.__class__ = _kept(oracle.__class__)
    oracle.keep(lease, shared)


@functools.cache
def _kept(kind: type[Any]) -> type:
    return type(f"Kept{kind.__name__}", (KeptOracle, kind), {})
