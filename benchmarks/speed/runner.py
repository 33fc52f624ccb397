"""The parent of the processes, which tells them to measure: never two at once."""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.speed.cases import Case, mode_named

ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # Many processes share one GPU.
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    # glibc keeps freed memory. By default it returns large arrays to the kernel, and
    # the next one, whoever makes it, pays a page fault for each 4 KiB.
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "1073741824",
}


class Worker:
    """A process that has built, compiled and once run its cases."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._names = ", ".join(case.name for case in cases)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.speed.worker", _to_json(cases)],
            env={
                **os.environ,
                **ENVIRONMENT,
                "KERAS_BACKEND": mode_named(cases[0].mode).backend,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.works: list[dict[str, Any] | None] = self._answer()
        """Tasks and facts of each case; `None` if it does not apply here."""

    def measure(self, number: int, task: str) -> tuple[float, int]:
        """Have the process do a task of a case once."""
        print(number, task, file=self._process.stdin, flush=True)
        result, faults = self._answer()
        return result, faults

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if line:
            return json.loads(line)
        raise RuntimeError(
            f"The process of {self._names} ended with exit code "
            f"{self._process.wait()}; what it said is above."
        )


def measure(
    cases: Sequence[Case], repetitions: int, fresh: bool = False
) -> list[dict[str, Any]]:
    """Measure variants side by side: all of them once, then all of them again.

    Args:
        cases: The variants.
        repetitions: How often each is measured.
        fresh: Whether each runs in a new process, which has measured nothing before.

    Returns:
        For each case that applies its fields, and `values`: lists of numbers by name,
        one number a repetition, or a single one for what does not vary.
    """
    groups = [[case] for case in cases] if fresh else [cases]
    with _workers(groups) as workers:
        variants = [
            (case, worker, number, work, {})
            for group, worker in zip(groups, workers, strict=True)
            for number, (case, work) in enumerate(zip(group, worker.works, strict=True))
            if work
        ]
        values: dict[str, list[float]]
        for _, _, _, work, values in variants:
            values |= {name: [value] for name, value in work["facts"].items()}
        for repetition in range(-int(not fresh), repetitions):  # -1 is not counted
            for task in variants[0][3]["tasks"] if variants else ():
                for _, worker, number, _, values in variants:
                    result, faults = worker.measure(number, task)
                    if repetition >= 0:
                        values.setdefault(task, []).append(result)
                        values.setdefault(f"{task}, page faults", []).append(faults)
    return [
        {**dataclasses.asdict(case), "values": values}
        for case, _, _, _, values in variants
    ]


@contextlib.contextmanager
def _workers(groups: Sequence[Sequence[Case]]) -> Iterator[list[Worker]]:
    """One worker a group; they start together, which nobody measures."""
    with contextlib.ExitStack() as stack:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            starts = [pool.submit(Worker, cases) for cases in groups]
        for start in starts:
            if not start.exception():
                stack.callback(start.result().close)
        yield [start.result() for start in starts]


def _to_json(cases: Sequence[Case]) -> str:
    return json.dumps([dataclasses.asdict(case) for case in cases])
