"""A tuner of KerasTuner whose search survives whatever dies."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.resumable.chief import serve
from keras_vaf.tuners.resumable.client import Heartbeat, PatientStub, end_with_parent
from keras_vaf.tuners.resumable.oracle import keep
from keras_vaf.tuners.resumable.progress import LiveLine
from keras_vaf.tuners.resumable.workers import Workers
from keras_vaf.utils import write_atomically

if TYPE_CHECKING:
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object

_IDLE_SECONDS = 0.3


class KeptTuner(Tuner):
    """Mixed into a tuner: keeps its files whole, and its workers at work.

    Args:
        *args: Those of the tuner.
        lease: Seconds after which the trial of a worker that is not heard of is given
            to another one.
        patience: Seconds for which a worker waits for a chief that does not answer.
            The chief waits ten times as long for workers.
        workers: Processes that the chief starts, and starts again if they die.
        **kwargs: Those of the tuner.
    """

    def __init__(
        self,
        *args: Any,
        lease: float = 60.0,
        patience: float = 60.0,
        workers: Workers | None = None,
        **kwargs: Any,
    ) -> None:
        self._lease = lease
        self._patience = patience
        self._workers = workers
        self._asked = False
        self._heartbeat: Heartbeat | None = None
        self._role = _role()
        if self._role == "worker":
            kwargs["overwrite"] = False  # It would remove the folder of all others.
        super().__init__(*args, **kwargs)
        if self._role == "worker":
            self.oracle.stub = PatientStub(self.oracle.stub, patience)

    def search(self, *args: Any, **kwargs: Any) -> None:
        """Run trials until the search is over (see `keras_tuner.Tuner.search`).

        Raises:
            RuntimeError: If too many trials failed in a row, or a chief has no workers.
            ConnectionError: If the chief of this worker does not answer.
            OSError: If the port of this chief is in use.
        """
        if self._role == "worker":
            end_with_parent()
            super().search(*args, **kwargs)
            return
        if self._role == "chief":
            self.save()
            serve(self.oracle, self._workers, 10 * self._patience)
        else:
            super().search(*args, **kwargs)
        if self.oracle.failure:
            raise RuntimeError(self.oracle.failure)

    def reload(self) -> None:
        """Go on from the files of an earlier search."""
        self._populate_initial_space()

    def save(self) -> None:
        """Write the state of the search, whole or not at all."""
        if self._role != "worker":
            self.oracle.save()
        write_atomically(self._get_tuner_fname(), json.dumps(self.get_state()))

    def pre_create_trial(self) -> None:
        """Wait a little if there was nothing to do."""
        if self._asked:
            time.sleep(_IDLE_SECONDS)
        self._asked = True

    def on_trial_begin(self, trial: Trial) -> None:
        """Let the chief know that this worker is alive, until the trial ends."""
        super().on_trial_begin(trial)
        self._asked = False
        if self._role == "worker":
            self._heartbeat = Heartbeat(
                lambda: self.oracle.get_trial(trial.trial_id), self._lease / 4
            )

    def on_trial_end(self, trial: Trial) -> None:
        """End the trial, and write down why it failed if it did."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        if trial.message:  # which does not reach the chief
            path = Path(self.get_trial_dir(trial.trial_id)) / "error.txt"
            write_atomically(path, trial.message)
        super().on_trial_end(trial)

    def check_space(self, space: HyperParameters) -> None:
        """Called once with the hyper-parameters that the hypermodel asks for."""

    def _populate_initial_space(self) -> None:
        keep(self.oracle, self._lease, shared=self._role == "chief")
        self.oracle._display = LiveLine(self.oracle)
        super()._populate_initial_space()
        self.check_space(self.oracle.get_space())
        folder = Path(self.project_dir)
        if self._role != "worker" and any(folder.glob("trial_*/trial.json*")):
            self.oracle.reload()
            for note in self.oracle.notes:
                print(f"keras_vaf: {note}")


def _role() -> str:
    """Return what the environment makes of this process: see KerasTuner's guide."""
    if "KERASTUNER_ORACLE_IP" not in os.environ:
        return "alone"
    missing = {"KERASTUNER_ORACLE_PORT", "KERASTUNER_TUNER_ID"} - os.environ.keys()
    if missing:
        raise ValueError(
            "A search on several machines needs KERASTUNER_ORACLE_IP, "
            "KERASTUNER_ORACLE_PORT and KERASTUNER_TUNER_ID in the environment. "
            f"Received: no {' and no '.join(sorted(missing))}"
        )
    return "chief" if "chief" in os.environ["KERASTUNER_TUNER_ID"] else "worker"
