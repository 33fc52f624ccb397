"""`RecordedTuner`, a tuner of KerasTuner that records its trials, and resumes."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import traceback
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.recorded.progress import TrialProgress
from keras_vaf.tuners.recorded.records import file_of, read_records
from keras_vaf.tuners.recorded.replay import Replay
from keras_vaf.tuners.results import TrialResult, result_of
from keras_vaf.utils import parse_json, visible, write_atomically

if TYPE_CHECKING:
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object


class RecordedTuner(Tuner):
    """A mixin that writes one record for each trial that ended.

    The records are the memory of the search: a new tuner replays them.

    Args:
        *args: Arguments of the tuner.
        **kwargs: Arguments of the tuner.

    Attributes:
        folder: The folder of the records, `directory/project_name`.

    Raises:
        ValueError: If environment variables request KerasTuner's distributed search.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "KERASTUNER_ORACLE_IP" in os.environ:
            raise ValueError(
                "A search of keras_vaf runs in one process. Unset "
                "KERASTUNER_ORACLE_IP, which starts KerasTuner's distributed search. "
                f"Received: KERASTUNER_ORACLE_IP={os.environ['KERASTUNER_ORACLE_IP']}"
            )
        # KerasTuner calls deprecated functions of Python in every trial.
        warnings.filterwarnings(
            "ignore", category=DeprecationWarning, module="keras_tuner"
        )
        project = kwargs.get("project_name") or "untitled_project"
        self.folder = Path(kwargs.get("directory") or ".") / project
        if kwargs.get("overwrite"):
            shutil.rmtree(self.folder, ignore_errors=True)
        if "oracle" not in kwargs and not kwargs.get("seed"):
            kwargs["seed"] = _drawn_seed(self.folder)
        # Nothing reads the files that KerasTuner writes.
        scratch = tempfile.mkdtemp(prefix="keras_vaf-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        super().__init__(*args, **{**kwargs, "directory": scratch})
        self.check_space(self.oracle.get_space())
        # KerasTuner would raise in `end_trial` without releasing its lock.
        self._most_failures = self.oracle.max_consecutive_failed_trials
        self.oracle.max_consecutive_failed_trials = -1  # never
        self._replay = self._resumed()

    def is_same_search(self) -> bool:
        """Return whether the records of the folder belong to this search."""
        return True

    def check_space(self, space: HyperParameters) -> None:
        """Check the hyperparameters that the hypermodel uses; called once."""

    def run_trials(self) -> None:
        """Run trials until the search is complete.

        Raises:
            RuntimeError: If too many consecutive trials failed.
        """
        verbose, self.oracle.verbose = self.oracle.verbose, 0
        progress = TrialProgress(self.oracle, verbose)
        self.on_search_begin()
        while (trial := self.next_trial()) is not None:
            if self.end(trial):
                progress.show(trial)
        self.on_search_end()
        self.oracle.verbose = verbose

    def _resumed(self) -> Replay:
        """Continue from the records of an earlier run."""
        if not self.is_same_search():
            return Replay(self.oracle, [])
        records, notes = read_records(self.folder)
        for note in notes:
            print(f"keras_vaf: {visible(note)}")
        replay = Replay(self.oracle, records)
        verbose, self.oracle.verbose = self.oracle.verbose, 0
        replay.advance()
        self.oracle.verbose = verbose
        return replay

    def results(self) -> list[TrialResult]:
        """Return the results of all trials, in the order of their start."""
        trials = self.oracle.trials.values()
        return [result_of(trial.get_state()) for trial in trials]

    def next_trial(self) -> Trial | None:
        """Start or repeat the next trial; return `None` if none is left."""
        self._check_failures()
        self._replay.advance()
        trial = next(iter(self.oracle.ongoing_trials.values()), None)
        if trial is None:
            for record in self._replay.left:  # of trials that the oracle does not start
                file_of(self.folder, record["trial_id"]).unlink()
            self._replay.left.clear()
            self.pre_create_trial()
            trial = self.oracle.create_trial(self.tuner_id)
        if trial.status != "RUNNING":
            return None
        self.on_trial_begin(trial)
        return trial

    def end(self, trial: Trial) -> bool:
        """Run a trial, end it, and record it unless it is tried again.

        Args:
            trial: A trial from `next_trial`.

        Returns:
            Whether the trial has ended.
        """
        self._run(trial)
        self.on_trial_end(trial)
        ended = trial.trial_id in self.oracle.end_order
        if ended:
            record = json.dumps(self._replay.record(trial))
            write_atomically(file_of(self.folder, trial.trial_id), record)
        return ended

    def _run(self, trial: Trial) -> None:
        """Run a trial, and give its metrics or its error to the trial."""
        from keras_tuner.errors import FailedTrialError, FatalError

        name = self.oracle.objective.name
        trial.metrics = type(trial.metrics)()  # those of a failed attempt
        try:
            metrics = self.run_trial(trial)
            if isinstance(metrics, int | float):
                metrics = {name: metrics}
            if not isinstance(metrics, dict) or name not in metrics:
                raise ValueError(
                    f"`run_trial` must return metrics, among them {name!r}. "
                    f"Received: {metrics!r}"
                )
            self.oracle.update_trial(trial.trial_id, metrics)
            trial.status = "COMPLETED"
        except FatalError:
            raise
        except Exception as error:
            failed = isinstance(error, FailedTrialError)
            trial.status = "FAILED" if failed else "INVALID"
            trial.message = traceback.format_exc()

    def _check_failures(self) -> None:
        """Raise a `RuntimeError` if the last trials failed."""
        trials = [self.oracle.trials[name] for name in self.oracle.end_order]
        last = trials[len(trials) - self._most_failures :]
        if len(trials) >= self._most_failures and all(
            trial.status == "FAILED" for trial in last
        ):
            raise RuntimeError(
                f"{self._most_failures} consecutive trials failed, and the search was "
                f"stopped. The last error:\n{last[-1].message}"
            )


def _drawn_seed(folder: Path) -> int:
    """Return the seed of a search without a seed, drawn when the search began."""
    path = folder / "seed.json"
    if not path.is_file():
        write_atomically(path, json.dumps(random.randint(1, 10_000)))
    try:
        return int(parse_json(path.read_bytes()))
    except (TypeError, ValueError):
        raise ValueError(
            "Expected the seed of a search. Remove the file to draw another one. "
            f"Received: {path}"
        ) from None
