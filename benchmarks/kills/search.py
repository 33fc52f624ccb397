"""Kill searches at random moments: `python -m benchmarks.kills.search --kills 50`.

Each round is a search of a few short trials, as one process, or as a chief with two
workers. One of them, or all, are killed (SIGKILL) again and again, and the same command
is given again, until the search ends. Counted are trials that got lost, trials that
were counted twice or run again after they had ended, and searches that did not end.
"""

import argparse
import contextlib
import json
import os
import random
import signal
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
from keras_vaf.tuners import CrossValidated, Workers, read_trials
from keras_vaf.tuners.resumable.versions import keras_tuner
from keras_vaf.utils import markdown_table, write_atomically

TARGETS = ("alone", "worker", "chief", "everything")
TRIALS = 6
KILLS_A_ROUND = 3
TIMEOUT = 120.0
_LONGEST_TRIAL = 0.6


def play(folder: Path, shared: bool) -> None:
    """Run the search that is killed: its trials sleep, and say so in a file."""

    class Toy(CrossValidated(keras_tuner().RandomSearch)):
        def run_trial(self, trial):
            _note(folder, "begin", trial.trial_id)
            time.sleep(random.uniform(0.1, _LONGEST_TRIAL))
            _note(folder, "end", trial.trial_id)
            return {"val_loss": trial.hyperparameters.get("x")}

    workers = None
    if shared and "KERASTUNER_ORACLE_IP" not in os.environ:
        os.environ |= {
            "KERASTUNER_TUNER_ID": "chief",
            "KERASTUNER_ORACLE_IP": "127.0.0.1",
            "KERASTUNER_ORACLE_PORT": "0",
        }
        workers = Workers(_command(folder, shared), 2, folder, restarts=KILLS_A_ROUND)
    tuner = Toy(
        lambda hp: hp.Float("x", 0.0, 1.0),
        objective="val_loss",
        max_trials=TRIALS,
        folds=2,
        stratify=False,
        seed=1,
        patience=20.0,
        workers=workers,
        directory=folder,
        project_name="trials",
    )
    tuner.search(np.zeros((4, 1)), np.zeros(4), epochs=1)


def kill_often(folder: Path, target: str, kills: int) -> dict[str, int]:
    """Run one search, kill it so many times, and count what went wrong."""
    folder.mkdir(parents=True)
    done = 0
    process = _start(folder, target)
    while done < kills and _wait_for_a_trial(folder, process):
        time.sleep(random.uniform(0.0, 2 * _LONGEST_TRIAL))
        if process.poll() is not None:
            break
        done += _kill(folder, process, target)
        if target != "worker":
            process.wait()
            process = _start(folder, target)
    hung = 0
    try:
        process.wait(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        hung = 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return {"kills": done, "hung": hung, **_count(folder, done)}


def _count(folder: Path, kills: int) -> dict[str, int]:
    results = read_trials(folder / "trials")
    completed = {r.trial for r in results if r.status == "COMPLETED"}
    states = [
        json.loads(path.read_bytes())["metrics"]["metrics"]["val_loss"]["observations"]
        for path in (folder / "trials").glob("trial_*/trial.json")
    ]
    begun = Counter(trial for what, trial, _ in _notes(folder) if what == "begin")
    return {
        "lost": TRIALS - len(completed),
        "counted_twice": sum(len(s) != 1 or len(s[0]["value"]) != 1 for s in states),
        # A kill ends at most one trial of each of two workers.
        "run_again": sum(begun.values()) - len(begun),
        "may_run_again": kills * 2,
    }


def _kill(folder: Path, process: "subprocess.Popen[bytes]", target: str) -> int:
    """Kill the target, and return how many were killed."""
    with contextlib.suppress(ProcessLookupError):
        if target == "everything":
            os.killpg(process.pid, signal.SIGKILL)
        elif target == "worker":
            os.kill(_notes(folder)[-1][2], signal.SIGKILL)
        else:
            process.kill()
        return 1
    return 0


def _wait_for_a_trial(folder: Path, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until one more trial has begun; false if the search is over."""
    known, deadline = len(_notes(folder)), time.monotonic() + TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        if len(_notes(folder)) > known:
            return True
        time.sleep(0.02)
    return False


def _start(folder: Path, target: str) -> "subprocess.Popen[bytes]":
    with open(folder / "output.log", "ab") as log:
        return subprocess.Popen(
            _command(folder, target != "alone"),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _command(folder: Path, shared: bool) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.kills.search", "--play", str(folder)]
    return [*command, *(["--shared"] if shared else [])]


def _note(folder: Path, what: str, trial_id: str) -> None:
    with open(folder / "runs.log", "a", encoding="utf-8") as file:
        file.write(f"{what} {trial_id} {os.getpid()}\n")


def _notes(folder: Path) -> list[tuple[str, str, int]]:
    path = folder / "runs.log"
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []
    return [(what, trial, int(pid)) for what, trial, pid in map(str.split, lines)]


def markdown(document: dict[str, Any]) -> str:
    """Return the table of all targets, from the document alone."""
    columns = {
        "searches": "searches",
        "kills": "kills",
        "lost": "trials lost",
        "counted_twice": "counted twice",
        "run_again": "run again",
        "may_run_again": "of at most",
        "hung": "searches that did not end",
    }
    lines = [
        [target, *(str(counted[name]) for name in columns)]
        for target, counted in document["targets"].items()
    ]
    return markdown_table(["killed", *columns.values()], lines) + "\n"


def _went_wrong(counted: dict[str, int]) -> bool:
    bad = counted["hung"] + counted["lost"] + counted["counted_twice"]
    return bad > 0 or counted["run_again"] > counted["may_run_again"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills.search", description=__doc__
    )
    parser.add_argument("--kills", type=int, default=50, help="for each target")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    parser.add_argument("--scratch", type=Path, default=Path("runs/search-kills"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/search"))
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--shared", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.play:
        play(arguments.play, arguments.shared)
        return 0
    document: dict[str, Any] = {
        "backend": keras.backend.backend(),
        "environment": environment(),
        "targets": {},
    }
    for target in arguments.targets:
        total: Counter[str] = Counter()
        while total["kills"] < arguments.kills:
            left = min(arguments.kills - total["kills"], KILLS_A_ROUND)
            folder = arguments.scratch / f"{target}-{time.time_ns()}"
            total.update(kill_often(folder, target, left))
            total["searches"] += 1
            print(f"{target}: {dict(total)}", flush=True)
        document["targets"][target] = dict(total)
    text = json.dumps(document, indent=1) + "\n"
    write_atomically(arguments.output / "kills.json", text)
    write_atomically(arguments.output / "kills.md", markdown(document))
    return int(any(map(_went_wrong, document["targets"].values())))


if __name__ == "__main__":
    sys.exit(main())
