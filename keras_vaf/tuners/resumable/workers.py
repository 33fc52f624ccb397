"""Workers on this machine, which are started again when they die."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.tuners.resumable.client import PARENT


class Workers:
    """Processes that run the trials of a search.

    A worker that dies is started again under its own name, so that it gets its trial
    again. What workers print is written to `worker-0.log` and so on.

    Args:
        command: The command that each worker runs: that of the chief.
        count: Number of workers.
        folder: Where their output goes.
        restarts: How often each worker is started again.

    Raises:
        ValueError: If `count` is no positive integer.

    Example:

    >>> workers = Workers(["python", "my_search.py"], count=2, folder="runs")
    >>> workers.alive
    []
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        folder: str | os.PathLike[str],
        restarts: int = 3,
    ) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(
                "The number of workers must be an integer of at least 1. "
                f"Received: {count!r}"
            )
        self._command = list(command)
        self._folder = Path(folder)
        self._lives = {f"worker-{i}": restarts for i in range(count)}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def alive(self) -> list[str]:
        """Names of the workers that run."""
        return [n for n, p in self._processes.items() if p.poll() is None]

    def start(self, port: int) -> None:
        """Start all workers.

        Args:
            port: Where the chief listens, on this machine.
        """
        self._environment = {
            **os.environ,
            "KERASTUNER_ORACLE_IP": "127.0.0.1",
            "KERASTUNER_ORACLE_PORT": str(port),
            PARENT: str(os.getpid()),
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in self._lives:
            self._start(name)

    def restart_dead(self) -> list[str]:
        """Start workers again that died.

        Returns:
            Names of those that died too often, or ended by themselves, and stay away.
        """
        gone = []
        for name, process in list(self._processes.items()):
            if process.poll() is None:
                continue
            if process.returncode and self._lives[name] > 0:
                self._lives[name] -= 1
                self._start(name)
            else:
                del self._processes[name]
                gone.append(name)
        return gone

    def last_words(self) -> str:
        """Return the last line that a worker printed, and where it stands."""
        for path in sorted(self._folder.glob("worker-*.log")):
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            words = [line for line in lines if line.strip()]
            if words:
                return f"{path} ends with: {words[-1]}"
        return f"They printed nothing to {self._folder}."

    def stop(self) -> None:
        """End those that still run."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, name: str) -> None:
        with open(self._folder / f"{name}.log", "ab") as log:
            self._processes[name] = subprocess.Popen(
                self._command,
                env={**self._environment, "KERASTUNER_TUNER_ID": name},
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
