"""`TrialProgress`, which prints a line after each trial of a search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from keras_vaf.tuners.results import names_of, result_of
from keras_vaf.utils import visible

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial


class TrialProgress:
    """Prints one line per trial, instead of KerasTuner's display.

    Args:
        oracle: The oracle of the search.
        verbose: Whether to print.
    """

    def __init__(self, oracle: Oracle, verbose: int) -> None:
        self._oracle = oracle
        self._verbose = verbose
        self._started = time.monotonic()
        self._ended = 0

    def show(self, trial: Trial) -> None:
        """Print the result of the trial, the best score and the remaining time."""
        self._ended += 1
        if self._verbose:
            print(visible(self._line(trial)), flush=True)

    def _line(self, trial: Trial) -> str:
        result = result_of(trial.get_state())
        ended, all_trials = len(self._oracle.end_order), self._oracle.max_trials
        score = "failed" if result.score is None else f"{result.score:.4g}"
        if result.score is not None and result.deviation is not None:
            score += f" ± {result.deviation:.2g}"
        names = names_of([result])
        values = " ".join(f"{name}={result.values[name]}" for name in names)
        count = f"{ended} of {all_trials}" if all_trials else f"{ended} ended"
        parts = [f"trial {trial.trial_id}", count]
        parts += [f"{self._oracle.objective.name} {score}", values]
        best = self._oracle.get_best_trials()
        if best and best[0].status == "COMPLETED":
            parts.append(f"best {best[0].score:.4g} (trial {best[0].trial_id})")
        if all_trials:
            seconds = (time.monotonic() - self._started) / self._ended
            parts.append(f"{duration(seconds * max(all_trials - ended, 0))} left")
        return " | ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration as text, such as `1:05:09` or `0:12`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
