"""Kill searches at random moments: `python -m benchmarks.kills.search --kills 50`.

Each round is a search of a few short trials in one process. The process is killed
(SIGKILL) again and again, and the same command resumes the search until it ends. The
report counts trials that were lost, trials that were counted twice, trials that ran
again after they had ended, and searches that did not end.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from benchmarks.environment import environment
from keras_vaf.tuners import CrossValidated, read_trials
from keras_vaf.utils import markdown_table, require, write_atomically

TRIALS = 6
KILLS_A_ROUND = 3
TIMEOUT = 120.0
_LONGEST_TRIAL = 0.6


def play(folder: Path) -> None:
    """Run the search that is killed: its trials sleep, and note it in a file."""

    class Toy(CrossValidated(require("keras_tuner", extra="tune").RandomSearch)):
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
    command = [sys.executable, "-m", "benchmarks.kills.search", "--play", str(folder)]
    with open(folder / "output.log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def _note(folder: Path, what: str, trial_id: str) -> None:
    with open(folder / "runs.log", "a", encoding="utf-8") as file:
        file.write(f"{what} {trial_id}\n")


def _notes(folder: Path) -> list[list[str]]:
    path = folder / "runs.log"
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []
    return [line.split() for line in lines]


def markdown(document: dict[str, Any]) -> str:
    """Return the table of the counts, from the document alone."""
    columns = {
        "searches": "searches",
        "kills": "kills",
        "lost": "trials lost",
        "counted_twice": "counted twice",
        "run_again": "run again",
        "may_run_again": "of at most",
        "hung": "searches that did not end",
    }
    cells = [str(document["counts"][name]) for name in columns]
    return markdown_table([*columns.values()], [cells], text_columns=0) + "\n"


def _went_wrong(counts: dict[str, int]) -> bool:
    bad = counts["hung"] + counts["lost"] + counts["counted_twice"]
    return bad > 0 or counts["run_again"] > counts["may_run_again"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills.search", description=__doc__
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--scratch", type=Path, default=Path("runs/search-kills"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/search"))
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.play:
        play(arguments.play)
        return 0
    counts: Counter[str] = Counter()
    while counts["kills"] < arguments.kills:
        left = min(arguments.kills - counts["kills"], KILLS_A_ROUND)
        counts.update(kill_often(arguments.scratch / str(time.time_ns()), left))
        counts["searches"] += 1
        print(dict(counts), flush=True)
    document = {
        "backend": keras.backend.backend(),
        "environment": environment(),
        "counts": dict(counts),
    }
    text = json.dumps(document, indent=1) + "\n"
    write_atomically(arguments.output / "kills.json", text)
    write_atomically(arguments.output / "kills.md", markdown(document))
    return int(_went_wrong(counts))


if __name__ == "__main__":
    sys.exit(main())
