"""Attack every command that writes files: `python -m tests.faults`.

Each try is a separate process in a folder with complete files. It is killed before or
after one of its writes, gets SIGTERM or Ctrl-C there, meets a full disk or a read-only
folder, runs at the same time as a second process, or reads a damaged file. The report
counts commands that the fault stopped, older files that were lost, trainings that were
repeated, second runs that failed, wrong exit codes, processes that did not end, and
tracebacks. An attack that is in the report already is not repeated.
"""

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.environment import environment
from keras_vaf.utils import write_atomically
from keras_vaf_cli import process
from tests.faults.commands import COMMANDS, READ, copy_for, prepare
from tests.faults.counts import COUNTS, counted, finished, markdown, whole_files
from tests.faults.injection import (
    Fault,
    attempt,
    attempts,
    count_steps,
    faults,
    start,
    wait,
)
from tests.faults.inputs import attack_input
from tests.faults.refusals import REFUSED, attack_kernels, attack_refusals


def attack(
    scratch: Path, name: str, fault: Fault, expected: int | None = None, number: int = 1
) -> dict[str, int]:
    """Try one fault on a copy of the prepared folder, run again, and count.

    Args:
        scratch: The folder of all copies.
        name: Name of the command.
        fault: The fault.
        expected: Exit code of a command that the fault stops, if it is known.
        number: Number of processes that run the command at once.
    """
    folder = scratch / "try"
    copy_for(name, scratch / "prepared", folder)
    before = whole_files(folder)
    runs = attempts(folder, COMMANDS[name], fault, number)
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        path.chmod(0o755)
    lost = before - whole_files(folder)
    reports = finished(folder)
    again, second = attempt(folder, COMMANDS[name], lambda: None)
    now = finished(folder)
    return counted(
        next((code for code, _ in runs if code), 0),
        "".join(text for _, text in runs) + second,
        expected,
        len(lost),
        sum(now.get(path) != report for path, report in reports.items()),
        again,
    )


def attack_command(scratch: Path, name: str) -> dict[str, int]:
    """Try every fault on a command, and return the sums of all counts."""
    folder = scratch / "try"
    copy_for(name, scratch / "prepared", folder)
    total: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    for fault_name, expected, fault in faults(count_steps(folder, COMMANDS[name])):
        counts = attack(scratch, name, fault, expected)
        total.update(counts)
        print(name, fault_name, counts, flush=True)
    return dict(total)


def attack_at_once(scratch: Path, name: str) -> dict[str, int]:
    """Run a command in two processes at once, and count."""
    return attack(scratch, name, lambda: None, number=2)


def attacks(
    scratch: Path, inputs: int
) -> Iterator[tuple[str, Callable[[], dict[str, int]]]]:
    """Yield every attack with its name."""
    for name in COMMANDS:
        yield f"{name}: faults", partial(attack_command, scratch, name)
        yield f"{name}: two processes at once", partial(attack_at_once, scratch, name)
    for name in READ:
        work = partial(attack_input, scratch, name, inputs)
        yield f"{name}: damaged {READ[name]}", work
    for name in REFUSED:
        yield f"{name}: wrong use", partial(attack_refusals, scratch, name)
    yield "native kernels: bad calls", attack_kernels


def _prepare(scratch: Path) -> None:
    """Make the files that are attacked, where copies of them will be."""
    folder = scratch / "try"
    if (scratch / "prepared").is_dir():
        return
    shutil.rmtree(folder, ignore_errors=True)
    if wait(start(partial(prepare, folder))) != 0:
        raise RuntimeError(f"The files could not be prepared in {folder}")
    folder.rename(scratch / "prepared")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the attacks that the report lacks; the exit code is 1 if one succeeds."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--only", default="", help="attacks whose name holds this text")
    parser.add_argument(
        "--again", action="store_true", help="repeat attacks that are in the report"
    )
    parser.add_argument(
        "--inputs",
        type=int,
        default=6,
        help="files with changed bytes, of each (default: %(default)s)",
    )
    parser.add_argument("--scratch", type=Path, default=Path("runs/faults"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/faults"))
    arguments = parser.parse_args(argv)
    process._load()  # without TensorFlow, whose import takes seconds in each try
    output, scratch = arguments.output.absolute(), arguments.scratch.absolute()
    _prepare(scratch)
    path = output / "faults.json"
    document = {"environment": environment(), "results": {}}
    if path.is_file():
        document["results"] = json.loads(path.read_bytes())["results"]
    results = document["results"]
    for name, work in attacks(scratch, arguments.inputs):
        if arguments.only not in name or (name in results and not arguments.again):
            continue
        results[name] = work()
        write_atomically(path, json.dumps(document, indent=1) + "\n")
        write_atomically(output / "faults.md", markdown(results))
        print(name, results[name], flush=True)
    return int(any(each[c] for each in results.values() for c in COUNTS[2:]))


if __name__ == "__main__":
    sys.exit(main())
