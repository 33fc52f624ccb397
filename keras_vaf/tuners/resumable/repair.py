"""Repair incomplete or inconsistent files of a search.

A process can be killed between writing two files. `trial.json` contains a trial and its
result, and `oracle.json` lists the trials. If they disagree, `trial.json` counts.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.tuners.results import result_of
from keras_vaf.utils import parse_json, set_aside

if TYPE_CHECKING:
    from keras_tuner import Oracle
    from keras_tuner.engine.trial import Trial


def load_trials(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the trials of a project, and rename incomplete files.

    Args:
        folder: The project folder.

    Returns:
        The trials by number, in order, and the new name of each incomplete file by the
        number of its trial.
    """
    from keras_tuner.engine.trial import Trial

    trials, incomplete = {}, {}
    for path in sorted(folder.glob("trial_*/trial.json")):
        trial_id = path.parent.name.removeprefix("trial_")
        try:
            state = parse_json(path.read_bytes())
            result_of(state)  # checks that KerasTuner does not make
            trials[trial_id] = Trial.from_state(state)
        except Exception:  # KerasTuner can raise errors of any class
            incomplete[trial_id] = set_aside(path).name
    return trials, incomplete


def read_state(oracle: Oracle, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Read the state of an oracle, or rebuild it from its trials.

    Args:
        oracle: The oracle, with its trials.
        folder: The project folder.

    Returns:
        The state, and notes about the repair.
    """
    path = folder / "oracle.json"
    notes = []
    if not path.exists() and not any(_ended(t) for t in oracle.trials.values()):
        return oracle.get_state(), []  # The process was killed in its first trial.
    if path.exists():
        before = oracle.get_state()
        try:
            state = parse_json(path.read_bytes())
            if before.keys() <= state.keys() and _are_names(state):
                oracle.set_state({**state, "ongoing_trials": {}})
                return state, []
        except Exception:  # KerasTuner can raise errors of any class
            oracle.set_state(before)
        notes.append(
            f"{path.name} was incomplete and is now {set_aside(path).name}; the state "
            f"was rebuilt from the {len(oracle.trials)} complete trials."
        )
    return _rebuilt(oracle), notes


def reconcile(
    oracle: Oracle, state: dict[str, Any], incomplete: dict[str, str]
) -> list[str]:
    """Make the state consistent with the trials, and give it to the oracle.

    Args:
        oracle: The oracle, with its trials.
        state: State of the oracle.
        incomplete: The new name of each incomplete file, by the number of its trial.
            The function adds trials whose files are missing.

    Returns:
        Notes about the repair.
    """
    trials, started = oracle.trials, state["start_order"]
    for trial_id in trials.keys() - set(started):
        # The trial was drawn but did not start, so it is drawn again.
        del trials[trial_id]
        shutil.rmtree(oracle._get_trial_dir(trial_id))
    for trial_id in started:
        if trial_id not in trials:
            incomplete.setdefault(trial_id, "gone")
    ended = [name for name, trial in trials.items() if _ended(trial)]
    end_order = [name for name in state["end_order"] if name in ended]
    end_order += [name for name in ended if name not in end_order]
    changes = {
        "ongoing_trials": {},
        "start_order": list(dict.fromkeys([*started, *incomplete])),
        "end_order": end_order,
        # KerasTuner runs the last entry first.
        "retry_queue": sorted({*started, *incomplete} - {*ended}, reverse=True),
    }
    oracle.set_state({**state, **changes})
    return [
        f"The file of trial {trial_id} was incomplete and is now {name}; the trial is "
        "drawn again."
        for trial_id, name in incomplete.items()
    ]


def restore_grid(oracle: Oracle) -> None:
    """Restore the position of a grid search, which KerasTuner does not store.

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


def _are_names(state: dict[str, Any]) -> bool:
    """Return whether a state lists trials by their names."""
    lists = [state["start_order"], state["end_order"]]
    return all(isinstance(each, list) for each in lists) and all(
        isinstance(name, str) for each in lists for name in each
    )


def _ended(trial: Trial) -> bool:
    return trial.status in ("COMPLETED", "FAILED")


def _rebuilt(oracle: Oracle) -> dict[str, Any]:
    """Return the state that follows from the trials."""
    for trial in oracle.trials.values():
        oracle.update_space(trial.hyperparameters)
        oracle._record_values(trial)
    # Beyond all seeds that these trials used.
    oracle._seed_state += 1000 * (len(oracle.trials) + 1)
    return {**oracle.get_state(), "start_order": list(oracle.trials)}
