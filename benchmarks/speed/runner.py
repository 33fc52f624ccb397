"""The parent of the processes, who tells them to measure: never two at once."""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.speed.cases import Case, mode_named

ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # Many processes share one GPU.
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}


class Worker:
    """A process that has built, compiled and once run its case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.speed.worker", _to_json(case)],
            env={
                **os.environ,
                **ENVIRONMENT,
                "KERAS_BACKEND": mode_named(case.mode).backend,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = self._answer()
        self.tasks: list[str] = ready["tasks"]
        self.facts: dict[str, float] = ready["facts"]

    def measure(self, task: str) -> float:
        """Have the process do a task once."""
        print(task, file=self._process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if line:
            return json.loads(line)
        raise RuntimeError(
            f"The process of {self.case.name} ended with exit code "
            f"{self._process.wait()}; what it said is above."
        )


def measure(cases: list[Case], repetitions: int) -> list[dict[str, Any]]:
    """Measure variants side by side: all of them once, then all of them again.

    Returns:
        For each case its fields, and `values`: lists of numbers by name, one number a
        repetition, or a single one for what does not vary.
    """
    with _workers(cases) as workers:
        values: list[dict[str, list[float]]] = [
            {name: [value] for name, value in worker.facts.items()}
            for worker in workers
        ]
        for _ in range(repetitions):
            for task in workers[0].tasks:
                for worker, own in zip(workers, values, strict=True):
                    own.setdefault(task, []).append(worker.measure(task))
    return [
        {**dataclasses.asdict(case), "values": own}
        for case, own in zip(cases, values, strict=True)
    ]


@contextlib.contextmanager
def _workers(cases: list[Case]) -> Iterator[list[Worker]]:
    """One worker a case; they start together, which nobody measures."""
    with contextlib.ExitStack() as stack:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            starts = [pool.submit(Worker, case) for case in cases]
        for start in starts:
            if not start.exception():
                stack.callback(start.result().close)
        yield [start.result() for start in starts]


def _to_json(case: Case) -> str:
    return json.dumps(dataclasses.asdict(case))
