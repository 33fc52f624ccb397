"""Attack every command that writes files: `python -m benchmarks.faults`.

Each try is a process of its own in a folder with complete files. It is killed before or
after one of its writes, gets SIGTERM there, or meets a full disk or a read-only folder.
The report counts runs that the fault stopped, old files that were lost, second runs
that failed, processes that did not end, and tracebacks. Tries that an earlier run of
the same folder made are kept.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import keras

from benchmarks.environment import environment
from benchmarks.faults.mutations import mutations
from keras_vaf.experiments import Report
from keras_vaf.utils import markdown_table, parse_json, write_atomically
from keras_vaf_cli import main as run_command
from keras_vaf_cli import process

COMMANDS = {
    "convert": "convert model.keras -o out.keras --force",
    "simplify": "simplify vaf.keras -o out.keras --force --tolerance 1",
    "freeze": "freeze vaf.keras -o out.keras --force",
    "inspect": "inspect vaf.keras --picture out.png --force",
    "merge": "merge runs -o merged",
    "compare": "compare toy.csv --target y --activations relu --folds 2 --epochs 1 "
    "--hidden 2",
}
TIMEOUT = 120
COUNTS = (
    "tried",
    "stopped",
    "lost",
    "failed again",
    "hung",
    "tracebacks",
    "temporary files",
)


def prepare(folder: Path) -> None:
    """Make the files that the commands read, and older files at their outputs."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    layers = [keras.layers.Dense(3, "relu"), keras.layers.Dense(1)]
    keras.Sequential([keras.Input((4,)), *layers]).save("model.keras")
    rows = "".join(f"{i},{i % 7},{i % 3 + 0.5}\n" for i in range(20))
    Path("toy.csv").write_text("a,b,y\n" + rows, encoding="utf-8")
    run_command(["convert", "model.keras", "-o", "vaf.keras"])
    run_command(COMMANDS["compare"].split())
    shutil.copy("model.keras", "out.keras")
    shutil.copy("model.keras", "out.png")


def attempt(folder: Path, line: str, fault: Callable[[], None]) -> tuple[int, str]:
    """Run a command with a fault in a child process.

    Returns:
        Its exit code, negative for a signal, and what it wrote.
    """
    log = folder.with_suffix(".log")
    child = os.fork()
    if child == 0:
        signal.alarm(TIMEOUT)
        os.chdir(folder)
        with open(log, "wb") as file:
            for descriptor in (1, 2):
                os.dup2(file.fileno(), descriptor)
        signal.signal(signal.SIGTERM, process._terminate)
        code = 1
        try:
            fault()
            code = run_command(line.split())
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    text = log.read_text(encoding="utf-8", errors="replace")
    return os.waitstatus_to_exitcode(status), text


def at_step(number: int, action: Callable[[], None]) -> Callable[[], None]:
    """Return a fault: do something before or after the n-th call that writes."""
    count = iter(range(sys.maxsize))

    def stepping(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            if next(count) == number:
                action()
            result = call(*arguments)
            if next(count) == number:
                action()
            return result

        return wrapped

    def install() -> None:
        os.fsync, os.replace = stepping(os.fsync), stepping(os.replace)

    return install


def full_disk() -> None:
    """Let no file grow beyond 5000 bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


def read_only() -> None:
    """Let the process write to no folder."""
    for folder in (Path(), *(path for path in Path().rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    if os.getuid() == 0:
        os.seteuid(65534)


def faults(steps: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each fault with its name."""
    for step in range(steps):
        kill = at_step(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
        yield f"kill at step {step}", kill
        stop = at_step(step, lambda: os.kill(os.getpid(), signal.SIGTERM))
        yield f"SIGTERM at step {step}", stop
    yield "full disk", full_disk
    yield "read-only folder", read_only


def attack(scratch: Path, name: str, fault: str, install: Any) -> dict[str, int]:
    """Try one fault on a copy of the prepared folder, run again, and count."""
    folder = scratch / "try"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scratch / "prepared", folder)
    if name == "compare":
        for report in list(folder.rglob("seed-0-fold-01.json")):
            report.unlink()
    before = whole_files(folder)
    code, text = attempt(folder, COMMANDS[name], install)
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        path.chmod(0o755)
    lost = before - whole_files(folder)
    again, second = attempt(folder, COMMANDS[name], lambda: None)
    return {
        "tried": 1,
        "stopped": int(code != 0),
        "lost": len(lost),
        "failed again": int(again != 0),
        "hung": int(code == -signal.SIGALRM),
        "tracebacks": ("Traceback" in text) + ("Traceback" in second),
        "temporary files": len(list(folder.rglob(".tmp-*"))),
    }


def whole_files(folder: Path) -> set[str]:
    """Return the files of a folder that are complete."""
    found = set()
    for path in folder.rglob("*"):
        whole = path.suffix != ".keras" or zipfile.is_zipfile(path)
        if path.is_file() and whole and not path.name.startswith(".tmp-"):
            found.add(str(path.relative_to(folder)))
    return found


def count_steps(scratch: Path, name: str) -> int:
    """Return the number of steps of a command that is left alone."""
    marks = scratch / "steps"

    def mark() -> None:
        marks.write_text(marks.read_text() + ".")

    marks.write_text("")
    folder = scratch / "try"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scratch / "prepared", folder)
    if name == "compare":
        for report in list(folder.rglob("seed-0-fold-01.json")):
            report.unlink()

    def install() -> None:
        for step in range(200):
            at_step(step, mark)()

    attempt(folder, COMMANDS[name], install)
    return len(marks.read_text())


def wrong_reports(folder: Path) -> dict[str, int]:
    """Read every wrong variant of a report, and count tracebacks."""
    counts: Counter[str] = Counter()
    path = next(folder.rglob("seed-*.json"))
    for _, text in mutations(json.loads(path.read_bytes()), most=1):
        counts["tried"] += 1
        try:
            Report.from_dict(parse_json(text))
        except ValueError:
            pass
        except Exception:
            counts["tracebacks"] += 1
    return {name: counts[name] for name in COUNTS}


def markdown(results: dict[str, dict[str, int]]) -> str:
    """Return the counts as a table, one line for each command."""
    rows = [[name, *(str(each[c]) for c in COUNTS)] for name, each in results.items()]
    return markdown_table(["attack", *COUNTS], rows) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("--only", nargs="*", default=[*COMMANDS], choices=COMMANDS)
    parser.add_argument("--scratch", type=Path, default=Path("runs/faults"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/faults"))
    arguments = parser.parse_args(argv)
    output, scratch = arguments.output.absolute(), arguments.scratch.absolute()
    if not (scratch / "prepared").is_dir():
        prepare(scratch / "prepared")
    path = output / "faults.json"
    document = {"environment": environment(), "results": {}}
    if path.is_file():
        document["results"] = json.loads(path.read_bytes())["results"]
    results = document["results"]
    for name in arguments.only:
        if name in results:
            continue
        total: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
        for fault, install in faults(count_steps(scratch, name)):
            counts = attack(scratch, name, fault, install)
            total.update(counts)
            print(name, fault, counts, flush=True)
        results[name] = dict(total)
        write_atomically(path, json.dumps(document, indent=1) + "\n")
    results["wrong values in a report"] = wrong_reports(scratch / "prepared")
    write_atomically(path, json.dumps(document, indent=1) + "\n")
    write_atomically(output / "faults.md", markdown(results))
    return int(any(each[c] for each in results.values() for c in COUNTS[2:]))


if __name__ == "__main__":
    sys.exit(main())
