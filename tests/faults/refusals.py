"""Wrong use of `predict`, and of kernels."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from keras_vaf.utils import visible
from tests.faults.commands import copy_for
from tests.faults.counts import COUNTS, counted
from tests.faults.injection import TIMEOUT, attempt

ROOT = Path(__file__).parents[2]
_HOSTILE = "\x1b]0;title\x07\x1b[31m"

FILES = {
    "empty.csv": "",
    "title.csv": "a,b\n",
    "other.csv": f"a,{_HOSTILE}\n1,2\n",
    "words.csv": f"a,b\n1,{_HOSTILE}\n",
    "huge.csv": "a,b\n1e300,2\n",
    "twice.csv": f"a,b,{_HOSTILE},{_HOSTILE}\n1,2,3,4\n",
    "long.csv": "a,b\n1,2,3\n",
    "nul.csv": "a,b\n1,\x002\n",
}
"""Files that the commands refuse, by name."""

REFUSED = {
    "predict": (
        *(f"predict best.keras {f} -o new.csv" for f in FILES if f.endswith(".csv")),
        "predict best.keras absent.csv -o new.csv",
        "predict best.keras loop.csv -o new.csv",
        "predict best.keras toy.csv -o out.csv",
        "predict best.keras toy.csv -o same.csv --force",
        "predict best.keras same.csv -o toy.csv --force",
        f"predict best.keras toy.csv -o {_HOSTILE}/new.csv",
        "predict model.keras toy.csv -o new.csv",
        "predict toy.csv toy.csv -o new.csv",
    ),
}
"""Command lines that are refused with one sentence and change nothing."""


def attack_refusals(scratch: Path, name: str) -> dict[str, int]:
    """Run the command lines that must be refused, and count.

    `wrong code` also counts commands that printed a control character.
    """
    total: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    folder = scratch / "try"
    copy_for(name, scratch / "prepared", folder)
    for file, text in FILES.items():
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "same.csv").symlink_to("toy.csv")
    before = _contents(folder)
    for line in REFUSED[name]:
        code, text = attempt(folder, line, lambda: None)
        now = _contents(folder)
        lost = sum(now.get(path) != content for path, content in before.items())
        counts = counted(code, text, lost=lost, left=len(now) - len(before))
        counts["wrong code"] = int(code != 2 or text != visible(text))
        total.update(counts)
        print(line.replace("\x1b", "ESC"), code, text[-300:], flush=True)
    return dict(total)


def _contents(folder: Path) -> dict[Path, bytes]:
    """Return all files, but for those that Python compiles from a user's file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if path.suffix != ".pyc"}


def attack_kernels() -> dict[str, int]:
    """Make the bad calls of the tests in another process, and count.

    `lost` counts calls with numbers instead of the error of the plain operators, and
    `wrong code` a process that crashed.

    Raises:
        ValueError: If the kernels are not active.
    """
    words = [sys.executable, "-W", "ignore", "-m", "tests.ops.native.bad_calls"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(
            words,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return dict.fromkeys(COUNTS, 0) | {"tried": 1, "hung": 1}
    return counted_calls(ended.stdout, ended.returncode, ended.stderr)


def counted_calls(output: str, code: int, errors: str) -> dict[str, int]:
    """Return the counts of bad calls, from what `tests.ops.native.bad_calls` wrote."""
    calls = dict(line.rsplit(": ", 1) for line in output.splitlines() if ": " in line)
    right = [name for name in calls if name.endswith("as it should be")]
    if code == 0 and any("numbers" not in calls[name] for name in right):
        raise ValueError(
            "Expected active kernels. `keras-vaf info` says why they are not"
        )
    outcomes = [outcome for name, outcome in calls.items() if name not in right]
    return dict.fromkeys(COUNTS, 0) | {
        "tried": len(calls),
        "stopped": sum(not outcome.endswith("numbers") for outcome in outcomes),
        "lost": sum(outcome.startswith(("OTHER", "numbers")) for outcome in outcomes),
        "wrong code": int(code != 0),
        "tracebacks": errors.count("Traceback"),
    }
