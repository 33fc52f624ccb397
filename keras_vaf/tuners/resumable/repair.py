"""What is done about files of a search that are torn, or that disagree.

A process can be killed between any two files that it writes. `trial.json` says what a
trial is and how it ended; `oracle.json` says which trials there are. Where they
disagree, the trial is right.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.utils import set_aside

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial


def load_trials(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the trials of a project, and set torn files aside.

    Args:
        folder: The project folder.

    Returns:
        The trials by their number, in order, and for each trial whose file was torn
        the new name of that file.
    """
    from keras_tuner.engine.trial import Trial

    trials, torn = {}, {}
    for path in sorted(folder.glob("trial_*/trial.json")):
        trial_id = path.parent.name.removeprefix("trial_")
        try:
            trials[trial_id] = Trial.from_state(json.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError):
            torn[trial_id] = set_aside(path).name
    return trials, torn


def read_state(oracle: Oracle, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Read the state of an oracle, or make it from its trials.

    Args:
        oracle: The oracle, with its trials.
        folder: The project folder.

    Returns:
        The state, and notes about what was done.
    """
    path = folder / "oracle.json"
    notes = []
    if not path.exists() and not any(_ended(t) for t in oracle.trials.values()):
        return oracle.get_state(), []  # It was killed in its very first trial.
    if path.exists():
        try:
            state = json.loads(path.read_bytes())
            if oracle.get_state().keys() <= state.keys():
                return state, []
        except (ValueError, AttributeError):
            pass
        notes.append(
            f"{path.name} was torn and is now {set_aside(path).name}; it was made "
            f"again from the {len(oracle.trials)} trials that are whole."
        )
    return _rebuilt(oracle), notes


def mend(oracle: Oracle, state: dict[str, Any], torn: dict[str, str]) -> list[str]:
    """Make state and trials agree, and let the oracle go on from them.

    Args:
        oracle: The oracle, with its trials.
        state: Its state.
        torn: The trials whose files were torn, and what those are called now; those
            whose files are gone are added.

    Returns:
        Notes about what was done.
    """
    trials, started = oracle.trials, state["start_order"]
    for trial_id in trials.keys() - set(started):
        # It was drawn, but nobody was told: it is drawn again.
        del trials[trial_id]
        shutil.rmtree(oracle._get_trial_dir(trial_id))
    for trial_id in started:
        if trial_id not in trials:
            torn.setdefault(trial_id, "gone")
    ended = [name for name, trial in trials.items() if _ended(trial)]
    ongoing = {
        tuner_id: trial_id
        for tuner_id, trial_id in state["ongoing_trials"].items()
        if oracle.shared and trial_id in trials and trial_id not in ended
    }
    at_rest = {*ended, *ongoing.values()}
    end_order = [name for name in state["end_order"] if name in ended]
    end_order += [name for name in ended if name not in end_order]
    changes = {
        "ongoing_trials": ongoing,
        "start_order": [*started, *(name for name in torn if name not in started)],
        "end_order": end_order,
        # The last one is run first.
        "retry_queue": sorted({*started, *torn} - at_rest, reverse=True),
    }
    oracle.set_state({**state, **changes})
    return [
        f"The file of trial {trial_id} was torn and is now {name}; the trial is drawn "
        "anew."
        for trial_id, name in torn.items()
    ]


def restore_grid(oracle: Oracle) -> None:
    """Let a grid search go on where it was: KerasTuner does not store that.

    Args:
        oracle: The oracle of a grid search, or any other.
    """
    if not hasattr(oracle, "_ordered_ids"):
        return
    oracle._ordered_ids = type(oracle._ordered_ids)()

    def compare(one: str, other: str) -> int:
        values = (oracle.trials[name].hyperparameters.values for name in (one, other))
        return oracle._compare(*values)

    for name in sorted(oracle.trials, key=functools.cmp_to_key(compare)):
        oracle._ordered_ids.insert(name)
    oracle._populate_next = list(oracle.trials)


def _ended(trial: Trial) -> bool:
    return trial.status in ("COMPLETED", "FAILED")


def _rebuilt(oracle: Oracle) -> dict[str, Any]:
    """Return the state that an oracle would have with the trials there are."""
    for trial in oracle.trials.values():
        oracle.update_space(trial.hyperparameters)
        oracle._record_values(trial)
    # Far beyond the numbers that these trials were drawn with.
    oracle._seed_state += 1000 * (len(oracle.trials) + 1)
    return {**oracle.get_state(), "start_order": list(oracle.trials)}
