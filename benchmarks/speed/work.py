"""What a process does for its case: tasks to repeat, and figures measured once."""

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import accuracy, networks
from benchmarks.speed.activations import layer
from benchmarks.speed.cases import Case, Mode, mode_named
from benchmarks.speed.programs import program

SMALL_STEPS = 1000


@dataclasses.dataclass(frozen=True)
class Work:
    """Tasks to repeat, each of which returns a number; and numbers known already."""

    tasks: dict[str, Callable[[], float]]
    facts: dict[str, float] = dataclasses.field(default_factory=dict)


def work_of(case: Case) -> Work:
    """Build what a case measures, and run it once, so that it is compiled."""
    prepare = {
        "operation": _operation,
        "family": _operation,
        "cnet_B": _cnet_b,
        "small": _small,
        "compile": _compile,
        "accuracy": _accuracy,
    }
    return prepare[case.study](case, mode_named(case.mode))


def _operation(case: Case, mode: Mode) -> Work:
    random = np.random.default_rng(0)
    x = random.standard_normal(case.shape, "float32")
    upstream = random.standard_normal(case.shape, "float32")
    subject = layer(case.activation, len(case.shape))
    measured = program(mode, subject, x, upstream)
    measured.forward()
    measured.forward_backward()
    return Work(
        {
            "forward": lambda: _seconds(measured.forward),
            "forward_backward": lambda: _seconds(measured.forward_backward),
        },
        {
            "input_bytes": x.nbytes,
            "resident_bytes": _peak_resident(measured.forward_backward),
            **measured.memory(),
        },
    )


def _cnet_b(case: Case, mode: Mode) -> Work:
    hidden = networks.cnet_b(case.activation, case.shape)
    model = networks.compiled_model(hidden, case.shape, mode)
    x, y = networks.batches(case.shape, steps=1)
    fit = functools.partial(model.fit, x, y, batch_size=len(x), verbose=0)
    fit()
    return Work(
        {"step": lambda: _seconds(fit)},
        {
            "resident_bytes": _peak_resident(fit),
            **networks.step_memory(model, x, y, mode),
        },
    )


def _small(case: Case, mode: Mode) -> Work:
    hidden = networks.small(case.activation)
    model = networks.compiled_model(hidden, case.shape, mode)
    x, y = networks.batches(case.shape, SMALL_STEPS)
    fit = functools.partial(model.fit, x, y, batch_size=case.shape[0], verbose=0)
    fit()
    return Work({"step": lambda: _seconds(fit) / SMALL_STEPS})


def _compile(case: Case, mode: Mode) -> Work:
    def fit(hidden: list[Any], shape: tuple[int, ...]) -> Callable[[], Any]:
        model = networks.compiled_model(hidden, shape, mode)
        x, y = networks.batches(shape, steps=1)
        return functools.partial(model.fit, x, y, verbose=0)

    fit([], (2, 4))()  # what a backend sets up on its first use is not counted
    step = fit(networks.cnet_b(case.activation, case.shape), case.shape)
    return Work({"compile": lambda: _seconds(step) - _seconds(step)})


def _accuracy(case: Case, mode: Mode) -> Work:
    error = functools.partial(accuracy.gradient_error, case.activation, mode)
    return Work(
        {
            f"error at {count:.0e} elements": functools.partial(error, count)
            for count in case.shape
        }
    )


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _peak_resident(run: Callable[[], Any]) -> int:
    """Largest resident memory of this process while `run` runs, in bytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    run()
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
