"""A search in a process of its own, which is killed (SIGKILL) at random moments."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import keras_tuner
import numpy as np

from keras_vaf.tuners import CrossValidated, read_trials

TRIALS = 6
KILLS_A_ROUND = 3
TIMEOUT = 120.0
_LONGEST_TRIAL = 0.6


def play(folder: Path) -> None:
    """Run the search that is killed: its trials sleep, and note it in a file."""

    class Toy(CrossValidated(keras_tuner.RandomSearch)):
        def run_trial(self, trial):
            _note(folder, "begin", trial.trial_id)
            time.sleep(random.uniform(0.1, _LONGEST_TRIAL))
            _note(folder, "end", trial.trial_id)
            return {"val_loss": trial.hyperparameters.get("x")}

    tuner = Toy(
        lambda hp: hp.Float("x", 0.0, 1.0),
        objective="val_loss",
        max_trials=TRIALS,
        folds=2,
        stratify=False,
        seed=1,
        directory=folder,
        project_name="trials",
    )
    tuner.search(np.zeros((4, 1)), np.zeros(4), epochs=1)


def kill_often(folder: Path, kills: int) -> dict[str, int]:
    """Run one search, kill it up to `kills` times, and count the failures."""
    folder.mkdir(parents=True)
    done = 0
    process = _start(folder)
    while done < kills and _wait_for_a_trial(folder, process):
        time.sleep(random.uniform(0.0, 2 * _LONGEST_TRIAL))
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        done += 1
        process = _start(folder)
    hung = 0
    try:
        process.wait(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        hung = 1
        process.kill()
    return {"kills": done, "hung": hung, **_count(folder, done)}


def _count(folder: Path, kills: int) -> dict[str, int]:
    results = read_trials(folder / "trials")
    completed = {r.trial for r in results if r.status == "COMPLETED"}
    states = [
        json.loads(path.read_bytes())["metrics"]["metrics"]["val_loss"]["observations"]
        for path in (folder / "trials").glob("trial_*/trial.json")
    ]
    begun = Counter(trial for what, trial in _notes(folder) if what == "begin")
    return {
        "lost": TRIALS - len(completed),
        "counted_twice": sum(len(s) != 1 or len(s[0]["value"]) != 1 for s in states),
        "run_again": sum(begun.values()) - len(begun),
        "may_run_again": kills,
    }


def _wait_for_a_trial(folder: Path, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until one more trial has begun; false if the search is over."""
    known, deadline = len(_notes(folder)), time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        if len(_notes(folder)) > known:
            return True
        time.sleep(0.02)
    return False


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.tuners.search_kills", str(folder)]
    with open(folder / "output.log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def _note(folder: Path, what: str, trial_id: str) -> None:
    with open(folder / "runs.log", "a", encoding="utf-8") as file:
        file.write(f"{what} {trial_id}\n")


def _notes(folder: Path) -> list[list[str]]:
    path = folder / "runs.log"
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []
    return [line.split() for line in lines]


if __name__ == "__main__":
    play(Path(sys.argv[1]))
