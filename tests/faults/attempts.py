"""Run commands with faults in child processes, and count what goes wrong."""

import multiprocessing
import os
import resource
import signal
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from keras_vaf.experiments.store import KEY, read_lines
from keras_vaf_cli import main as run_command
from keras_vaf_cli import process

TIMEOUT = 240
COUNTS = ("tried", "stopped", "lost", "repeated", "failed again", "wrong code")
COUNTS += ("hung", "tracebacks", "temporary files")
"""`stopped` counts commands that the fault ended. Those after it must be 0."""


def start(work: Callable[..., object], *arguments: object) -> Any:
    """Start a child process, which inherits no locks: this process never computes."""
    child = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    child.start()
    return child


def attempt(folder, line, fault=lambda: None, number=1):
    """Run a command with a fault in one or more child processes at once.

    Returns the first exit code that is not 0, negative for a signal, and all texts.
    """
    logs = [folder.with_suffix(f".log{i}") for i in range(number)]
    children = [start(_run, folder, line, fault, log) for log in logs]
    for child in children:
        child.join()
    codes = [child.exitcode for child in children]
    text = "".join(log.read_text("utf-8", errors="replace") for log in logs)
    return next(filter(None, codes), 0), text


def _run(folder, line, fault, log):
    signal.alarm(TIMEOUT)
    os.chdir(folder)
    with open(log, "wb") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, process._stop)
    fault()
    sys.exit(run_command(line.split()))


def at_each_step(action: Callable[[int], object]) -> None:
    """Take an action before the first call that writes, and after each."""
    steps = count(1)

    def stepping(call):
        def wrapped(*arguments):
            step = next(steps)
            if step == 1:
                action(0)
            result = call(*arguments)
            action(step)
            return result

        return wrapped

    os.fsync, os.replace = stepping(os.fsync), stepping(os.replace)


def faults(folder: Path, line: str) -> Iterator[tuple[int | None, Callable[[], None]]]:
    """Yield the exit code that each fault must cause, if known, and the fault.

    A command without a fault counts the steps first. The signals take turns.
    """
    marks = folder.with_suffix(".steps")
    marks.write_text("0")
    count_steps = partial(at_each_step, lambda step: marks.write_text(str(step)))
    attempt(folder, line, count_steps)
    codes = ((signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130))
    for step in range(int(marks.read_text()) + 1):
        number, code = codes[step % 3]

        def stop(now, step=step, number=number):
            if now == step:
                signal.raise_signal(number)

        yield code, partial(at_each_step, stop)
    yield None, full_disk
    yield None, read_only


def full_disk() -> None:
    """Let no file grow beyond 2000 bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


def read_only() -> None:
    """Let the process write to no folder."""
    for folder in (Path(), *(path for path in Path().rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    "".encode("cp437")  # of zip files; the other user may not read Python's own files
    if os.getuid() == 0:
        os.seteuid(65534)


def whole_files(folder: Path) -> set[str]:
    """Return the files of a folder that are complete, and its symbolic links."""
    return {
        str(path.relative_to(folder)) + " (a link)" * path.is_symlink()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".tmp-")
        if path.suffix != ".keras" or zipfile.is_zipfile(path)
    }


def finished(folder: Path) -> Counter[str]:
    """Return the number of records of each finished training."""
    return Counter(
        str([path.parent, *(row.get(name) for name in KEY)])
        for path in folder.rglob("*.jsonl")
        for row in read_lines(path)
    )


def counted(code, text, expected=None, lost=0, repeated=0, again=0, left=0):
    """Return the counts of one try: its code, its text, the code of a second run, ...

    Without an expected code, a command that is stopped must end with 2.
    """
    counts = [1, code != 0, lost, repeated, again != 0, code not in (0, expected or 2)]
    counts += [code == -signal.SIGALRM, text.count("Traceback"), left]
    return Counter(dict(zip(COUNTS, map(int, counts), strict=True)))
