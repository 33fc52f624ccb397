"""Faults that hit a command in its own process: `attempt`, and all `faults`."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
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
    log = folder.with_suffix(".log")
    code = in_child(lambda: _run(folder, line, fault, log))
    return code, log.read_text(encoding="utf-8", errors="replace")


def in_child(work: Callable[[], None]) -> int:
    """Do work in a child process, and return its exit code.

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
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _run(folder: Path, line: str, fault: Fault, log: Path) -> None:
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


def at_step(number: int, action: Callable[[], None]) -> Fault:
    """Return a fault: an action before or after the n-th call that writes."""
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


def count_steps(folder: Path, line: str) -> int:
    """Return the number of steps of a command that meets no fault."""
    marks = folder.with_suffix(".steps")
    marks.write_text("")

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            with open(marks, "a") as file:
                file.write("..")
            return call(*arguments)

        return wrapped

    def install() -> None:
        os.fsync, os.replace = counting(os.fsync), counting(os.replace)

    attempt(folder, line, install)
    return len(marks.read_text())


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


def faults(steps: int) -> Iterator[tuple[str, str, Fault]]:
    """Yield each fault with its kind and its name.

    Args:
        steps: Number of steps of the command.
    """
    for step in range(steps):
        for kind, number in (("kill", signal.SIGKILL), ("SIGTERM", signal.SIGTERM)):

            def send(number: int = number) -> None:
                os.kill(os.getpid(), number)

            yield kind, f"{kind} at step {step}", at_step(step, send)
    yield "full disk", "full disk", full_disk
    yield "read-only folder", "read-only folder", read_only
