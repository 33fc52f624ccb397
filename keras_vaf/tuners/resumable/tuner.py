"""`ResumableTuner`, a tuner of KerasTuner whose search can be resumed."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.resumable.oracle import make_resumable
from keras_vaf.tuners.resumable.progress import TrialProgress
from keras_vaf.utils import remove_stale, visible, write_atomically
from keras_vaf.utils.engines import Engine, Task

if TYPE_CHECKING:
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object


class ResumableTuner(Tuner):
    """A mixin that keeps the files of a tuner complete at any time.

    Args:
        *args: Arguments of the tuner.
        **kwargs: Arguments of the tuner.

    Raises:
        ValueError: If environment variables request KerasTuner's distributed search.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "KERASTUNER_ORACLE_IP" in os.environ:
            raise ValueError(
                "A search of keras_vaf uses `engine` to run in other processes. Unset "
                "KERASTUNER_ORACLE_IP, which starts KerasTuner's distributed search. "
                f"Received: KERASTUNER_ORACLE_IP={os.environ['KERASTUNER_ORACLE_IP']}"
            )
        self._tasks: dict[str, Task] = {}
        super().__init__(*args, **kwargs)

    def run_trials(self, engine: Engine) -> None:
        """Run trials until the search is complete, several at once if the engine can.

        Only this process reads and writes the files of the search.

        Args:
            engine: Where the trials are trained.
        """
        self.on_search_begin()
        under_way: dict[Task, Trial] = {}
        while True:
            while not under_way or len(under_way) < engine.width:
                if (trial := self._next_trial()) is None:
                    break
                self.on_trial_begin(trial)
                under_way[self._submit(engine, trial)] = trial
            if not under_way:
                break
            for task in engine.wait(under_way):
                trial = under_way.pop(task)
                self._tasks[trial.trial_id] = task
                self._try_run_and_update_trial(trial)
                self.on_trial_end(trial)
        self.on_search_end()

    def _next_trial(self) -> Trial | None:
        """Return the next trial, or `None` if others must end first or none is left."""
        busy = self.oracle.ongoing_trials
        # To the oracle, each running trial belongs to a separate tuner.
        names = (f"tuner{number}" for number in itertools.count())
        self.pre_create_trial()
        trial = self.oracle.create_trial(next(n for n in names if n not in busy))
        return trial if trial.status == "RUNNING" else None

    def _submit(self, engine: Engine, trial: Trial) -> Task:
        """Return the task whose result `run_trial` uses."""
        raise NotImplementedError(f"{type(self).__name__} must define `_submit`.")

    def reload(self) -> None:
        """Continue from the files of an earlier search."""
        self._populate_initial_space()

    def save(self) -> None:
        """Write the state of the search atomically."""
        self.oracle.save()
        write_atomically(self._get_tuner_fname(), json.dumps(self.get_state()))

    def on_trial_end(self, trial: Trial) -> None:
        """End the trial, and write the error message if it failed."""
        if trial.message:
            path = Path(self.get_trial_dir(trial.trial_id)) / "error.txt"
            write_atomically(path, trial.message)
        super().on_trial_end(trial)

    def check_space(self, space: HyperParameters) -> None:
        """Check the hyperparameters that the hypermodel uses; called once."""

    def _populate_initial_space(self) -> None:
        # A finished search writes to few of its folders.
        remove_stale(self.project_dir, recursive=True)
        make_resumable(self.oracle)
        self.oracle._display = TrialProgress(self.oracle)
        super()._populate_initial_space()
        self.check_space(self.oracle.get_space())
        if any(Path(self.project_dir).glob("trial_*/trial.json*")):
            self.oracle.reload()
            for note in self.oracle.notes:
                print(f"keras_vaf: {visible(note)}")
