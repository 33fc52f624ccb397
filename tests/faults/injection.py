"""Run commands with faults in child processes: `attempt`, and all `faults`."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from keras_vaf_cli import main as run_command
from keras_vaf_cli import process

TIMEOUT = 240
Fault = Callable[[], None]


def attempt(folder: Path, line: str, fault: Fault) -> tuple[int, str]:
    """Run a command with a fault in a child process.

    Args:
        folder: The folder in which it runs.
        line: The command line.
        fault: Called in the child before the command.

    Returns:
        The exit code, negative for a signal, and what the command wrote.
    """
    code, text = attempts(folder, line, fault, 1)[0]
    return code, text


def attempts(
    folder: Path, line: str, fault: Fault, number: int
) -> list[tuple[int, str]]:
    """Run a command in several child processes at once (see `attempt`)."""
    logs = [folder.with_suffix(f".log{i}") for i in range(number)]
    started = [start(partial(_run, folder, line, fault, log)) for log in logs]
    codes = [wait(child) for child in started]
    texts = [log.read_text(encoding="utf-8", errors="replace") for log in logs]
    return list(zip(codes, texts, strict=True))


def start(work: Callable[[], None]) -> int:
    """Do work in a child process, and return the number of the process.

    This process never computes, because its children would inherit locks of threads
    that they do not have.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def wait(child: int) -> int:
    """Wait until a child process ends, and return its exit code."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _run(folder: Path, line: str, fault: Fault, log: Path) -> None:
    signal.alarm(TIMEOUT)
    os.chdir(folder)
    with open(log, "wb") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, process._stop)
    code = 1
    try:
        fault()
        code = run_command(line.split())
    except SystemExit as stop:  # of the parser
        code = stop.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def at_step(number: int, action: Callable[[], None]) -> Fault:
    """Return a fault: an action after a number of calls that write."""

    def install() -> None:
        count = iter(range(sys.maxsize))

        def stepping(call: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*arguments: Any) -> Any:
                done = next(count)
                if number == done == 0:
                    action()
                result = call(*arguments)
                if number == done + 1:
                    action()
                return result

            return wrapped

        os.fsync, os.replace = stepping(os.fsync), stepping(os.replace)

    return install


def count_steps(folder: Path, line: str) -> int:
    """Return the number of steps of a command that meets no fault.

    A step is the time before the first call that writes, and the time after each one.
    """
    marks = folder.with_suffix(".steps")
    marks.write_text("")

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            with open(marks, "a") as file:
                file.write(".")
            return call(*arguments)

        return wrapped

    def install() -> None:
        os.fsync, os.replace = counting(os.fsync), counting(os.replace)

    attempt(folder, line, install)
    return len(marks.read_text()) + 1


def full_disk() -> None:
    """Let no file grow beyond 2000 bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


def read_only() -> None:
    """Let the process write to no folder."""
    for folder in (Path(), *(path for path in Path().rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    if os.getuid() == 0:
        os.seteuid(65534)


SIGNALS = {
    "kill": (signal.SIGKILL, -signal.SIGKILL),
    "SIGTERM": (signal.SIGTERM, 143),
    "Ctrl-C": (signal.SIGINT, 130),
}
"""Signals, and the exit codes of commands that they stop."""


def faults(steps: int) -> Iterator[tuple[str, int | None, Fault]]:
    """Yield each fault with its name, and the exit code that it must cause, if known.

    Args:
        steps: Number of steps of the command.
    """
    for step in range(steps):
        for name, (number, code) in SIGNALS.items():
            action = partial(signal.raise_signal, number)
            yield f"{name} at step {step}", code, at_step(step, action)
    yield "full disk", None, full_disk
    yield "read-only folder", None, read_only
