"""Kill an experiment at random moments: `python -m benchmarks.kills.reproduction`.

Each round is the quick form of an experiment in a fresh folder. It is killed (SIGKILL)
at a random moment, and the same command is given again, until it ends. Its table and
its reports are compared with those of an undisturbed run: all must be equal but
for the seconds.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras

from benchmarks.environment import environment
from keras_vaf.experiments import Report, read_reports
from keras_vaf.utils import markdown_table, write_atomically

WORDS = ("reproduce", "classification", "--quick", "--datasets", "wine")
_COMMAND = "import sys; from keras_vaf_cli import main; sys.exit(main())"


def kill_often(folder: Path, longest: float, kills: int) -> dict[str, int]:
    """Run an experiment to its end, killed on the way, and count what went wrong.

    Args:
        folder: Where its reports go.
        longest: Largest number of seconds between the start of a run and its kill.
        kills: Number of kills; fewer if it ends before.

    Returns:
        Numbers of kills, of reports that were there before a kill and are gone after
        it, and of files that were not reports.
    """
    done = lost = kept = 0
    while True:
        process = _start(folder)
        if done == kills or not _kill_after(process, random.uniform(0, longest)):
            code = process.wait()
            break
        done += 1
        there = len(list(folder.rglob("seed-*.json")))
        lost += max(0, kept - there)
        kept = there
    if code:
        raise RuntimeError(f"The experiment failed: see {folder / 'output.log'}")
    aside = len(list(folder.rglob("*.aside-*")))
    return {"kills": done, "lost": lost, "torn": aside}


def outcome(folder: Path) -> tuple[str, list[Report]]:
    """Return the table and the reports of a run, without the seconds."""
    [table], [compact] = folder.glob("*.md"), folder.glob("*.json.gz")
    reports = [replace(report, seconds=0.0) for report in read_reports(compact)]
    return without_seconds(table.read_text(encoding="utf-8")), reports


def without_seconds(table: str) -> str:
    """Return a table in Markdown without its column of seconds."""
    rows = [line.split(" | ") for line in table.splitlines()]
    header = next(row for row in rows if "seconds" in row)
    place, width = header.index("seconds"), len(header)
    kept = (
        row[:place] + row[place + 1 :] if len(row) == width else row for row in rows
    )
    return "\n".join(" | ".join(row) for row in kept)


def markdown(document: dict[str, Any]) -> str:
    """Return what came of the kills as a table."""
    columns = {
        "kills": "kills",
        "rounds": "runs to the end",
        "lost": "reports lost",
        "torn": "incomplete files",
        "equal": "tables and reports equal",
    }
    cells = [str(document[name]) for name in columns]
    return markdown_table(list(columns.values()), [cells], text_columns=0) + "\n"


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", _COMMAND, *WORDS, "--output", str(folder)]
    with open(folder / "output.log", "ab") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def _kill_after(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Kill a process after some time; false if it has ended by itself."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills.reproduction", description=__doc__
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--scratch", type=Path, default=Path("runs/reproduction-kills"))
    parser.add_argument(
        "--output", type=Path, default=Path("docs/reports/reproduction")
    )
    arguments = parser.parse_args(argv)
    scratch = arguments.scratch / str(time.time_ns())
    began = time.monotonic()
    kill_often(scratch / "alone", longest=0.0, kills=0)
    longest = time.monotonic() - began
    expected = outcome(scratch / "alone")
    total: Counter[str] = Counter()
    while total["kills"] < arguments.kills:
        folder = scratch / f"round-{total['rounds']}"
        left = arguments.kills - total["kills"]
        total.update(kill_often(folder, longest, left))
        total["rounds"] += 1
        total["equal"] += outcome(folder) == expected
        print(dict(total), flush=True)
    document = {
        "backend": keras.backend.backend(),
        "environment": environment(),
        "command": f"keras-vaf {' '.join(WORDS)}",
        "reports": len(expected[1]),
        "seconds_undisturbed": round(longest, 1),
        **{name: total[name] for name in ("kills", "rounds", "lost", "torn", "equal")},
    }
    text = json.dumps(document, indent=1) + "\n"
    write_atomically(arguments.output / "kills.json", text)
    write_atomically(arguments.output / "kills.md", markdown(document))
    return int(total["equal"] < total["rounds"] or total["lost"] + total["torn"] > 0)


if __name__ == "__main__":
    sys.exit(main())
