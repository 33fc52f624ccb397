"""A tuner of KerasTuner whose search can be resumed: `ResumableTuner`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.resumable.oracle import make_resumable
from keras_vaf.tuners.resumable.progress import TrialProgress
from keras_vaf.utils import write_atomically

if TYPE_CHECKING:
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object


class ResumableTuner(Tuner):
    """Mixed into a tuner, so that its files are always complete.

    Args:
        *args: Arguments of the tuner.
        **kwargs: Arguments of the tuner.

    Raises:
        ValueError: If the environment asks for KerasTuner's distributed search.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "KERASTUNER_ORACLE_IP" in os.environ:
            raise ValueError(
                "A search of keras_vaf runs in one process: unset "
                "KERASTUNER_ORACLE_IP, which starts KerasTuner's distributed search. "
                f"Received: KERASTUNER_ORACLE_IP={os.environ['KERASTUNER_ORACLE_IP']}"
            )
        super().__init__(*args, **kwargs)

    def reload(self) -> None:
        """Continue from the files of an earlier search."""
        self._populate_initial_space()

    def save(self) -> None:
        """Write the state of the search, complete or not at all."""
        self.oracle.save()
        write_atomically(self._get_tuner_fname(), json.dumps(self.get_state()))

    def on_trial_end(self, trial: Trial) -> None:
        """End the trial, and write the error message of a failed one."""
        if trial.message:
            path = Path(self.get_trial_dir(trial.trial_id)) / "error.txt"
            write_atomically(path, trial.message)
        super().on_trial_end(trial)

    def check_space(self, space: HyperParameters) -> None:
        """Called once with the hyper-parameters that the hypermodel asks for."""

    def _populate_initial_space(self) -> None:
        make_resumable(self.oracle)
        self.oracle._display = TrialProgress(self.oracle)
        super()._populate_initial_space()
        self.check_space(self.oracle.get_space())
        if any(Path(self.project_dir).glob("trial_*/trial.json*")):
            self.oracle.reload()
            for note in self.oracle.notes:
                print(f"keras_vaf: {note}")
