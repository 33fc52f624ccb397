"""The work of a process for its case: tasks to repeat, and figures measured once."""

import contextlib
import ctypes
import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import accuracy, networks
from benchmarks.speed.activations import Chain, layer
from benchmarks.speed.cases import Activation, Case, Mode, mode_named, study_named
from benchmarks.speed.pinn import pinn_step
from benchmarks.speed.programs import Program, program, second_derivatives
from keras_vaf.ops import plain_operators
from keras_vaf.ops.native.library import find

SMALL_STEPS = 500
PINN_STEPS = 100
COLUMNS = 64  # of small arrays
ELEMENTS = 4_000_000  # of all calls with a small array that are measured together


@dataclasses.dataclass(frozen=True)
class Work:
    """Tasks to repeat, each of which returns a number; and numbers known already."""

    tasks: dict[str, Callable[[], float]]
    facts: dict[str, float] = dataclasses.field(default_factory=dict)


def work_of(case: Case) -> Work | None:
    """Build what a case measures, and run it once, so that it is compiled.

    Returns:
        The work; `None` for native kernels that this case does not run.
    """
    prepare = {
        "operation": _operation,
        "forms": _operation,
        "family": _operation,
        "smooth": _passes,
        "sharing": _passes,
        "chain": _chain,
        "sizes": _sizes,
        "limits": _sizes,
        "GPU, float32": _operation,
        "GPU, bfloat16": _operation,
        "second": _second,
        "cnet_B": _cnet_b,
        "predict": _predict,
        "small": _small,
        "steps": _steps,
        "pinn": _pinn,
        "compile": _compile,
        "accuracy": _accuracy,
        "accuracy_large": _accuracy,
    }
    native = case.activation.subject == "native"
    if native and find().library is None:
        return None
    switch = contextlib.nullcontext if native else plain_operators
    with switch():
        before = _kernel_calls()
        work = prepare[case.study](case, mode_named(case.mode))
        if case.study in (
            "compile",
            "accuracy",
            "accuracy_large",
        ):  # they run when they are measured
            used = native and case.mode != "tensorflow-xla"
        else:
            used = _kernel_calls() > before
    if used != native:
        return None
    return dataclasses.replace(
        work, tasks={name: _inside(switch, task) for name, task in work.tasks.items()}
    )


def _inside(
    switch: Callable[[], Any], task: Callable[[], float]
) -> Callable[[], float]:
    def run() -> float:
        with switch():
            return task()

    return run


def _kernel_calls() -> int:
    library = find().library
    return library.vaf_calls() if library else 0


def _inputs(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """An input and an upstream gradient."""
    random = np.random.default_rng(0)
    x, upstream = (random.standard_normal(shape, "float32") for _ in range(2))
    return x, upstream


def _operation(case: Case, mode: Mode) -> Work:
    x, upstream = _inputs(case.shape)
    subject = layer(case.activation, len(case.shape), study_named(case.study).dtype)
    measured = program(mode, subject, x, upstream)
    work = _timed(measured)
    facts = {
        "input_bytes": x.size * np.dtype(subject.compute_dtype).itemsize,
        "resident_bytes": _peak_resident(measured.forward_backward),
        **measured.memory(),
    }
    return dataclasses.replace(work, facts=facts)


def _passes(case: Case, mode: Mode) -> Work:
    subject = layer(case.activation, len(case.shape))
    return _timed(program(mode, subject, *_inputs(case.shape)))


def _chain(case: Case, mode: Mode) -> Work:
    subject = Chain(layer(case.activation, len(case.shape)))
    return _timed(program(mode, subject, *_inputs(case.shape)))


def _timed(measured: Program) -> Work:
    measured.forward()
    measured.forward_backward()
    return Work(
        {
            "forward": lambda: _seconds(measured.forward),
            "forward_backward": lambda: _seconds(measured.forward_backward),
        }
    )


def _sizes(case: Case, mode: Mode) -> Work:
    tasks = {}
    for count in case.shape:
        inputs = _inputs((count // COLUMNS, COLUMNS))
        measured = program(mode, layer(case.activation, 2), *inputs)
        measured.forward_backward()
        tasks[f"{count} elements"] = functools.partial(
            _mean_seconds, measured.forward_backward, max(10, ELEMENTS // count // 10)
        )
    return Work(tasks)


def _second(case: Case, mode: Mode) -> Work:
    run = second_derivatives(mode, layer(case.activation, 2), _inputs(case.shape)[0])
    run()
    return Work({"second": functools.partial(_mean_seconds, run, 10)})


def _pinn(case: Case, mode: Mode) -> Work:
    run = pinn_step(mode, lambda: layer(case.activation, 2), case.shape[0])
    run()
    return Work({"step": functools.partial(_mean_seconds, run, PINN_STEPS)})


def _predict(case: Case, mode: Mode) -> Work:
    hidden = networks.cnet_b(case.activation, case.shape)
    model = networks.compiled_model(hidden, case.shape, mode)
    x, _ = networks.batches(case.shape, steps=2)
    run = functools.partial(model.predict, x, batch_size=case.shape[0], verbose=0)
    run()
    return Work({"predict": lambda: _seconds(run)})


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
    return Work({"step": _small_step(case.activation, case.shape, mode, SMALL_STEPS)})


def _steps(case: Case, mode: Mode) -> Work:
    return Work(
        {
            f"batch of {batch}": _small_step(
                case.activation, (batch, COLUMNS), mode, SMALL_STEPS // 5
            )
            for batch in case.shape
        }
    )


def _small_step(
    activation: Activation, shape: tuple[int, ...], mode: Mode, steps: int
) -> Callable[[], float]:
    """Return a function for the time of a step of the small network."""
    model = networks.compiled_model(networks.small(activation), shape, mode)
    x, y = networks.batches(shape, steps)
    fit = functools.partial(model.fit, x, y, batch_size=shape[0], verbose=0)
    fit()
    return lambda: _seconds(fit) / steps


def _compile(case: Case, mode: Mode) -> Work:
    def fit(hidden: list[Any], shape: tuple[int, ...]) -> Callable[[], Any]:
        model = networks.compiled_model(hidden, shape, mode)
        x, y = networks.batches(shape, steps=1)
        return functools.partial(model.fit, x, y, verbose=0)

    fit([], (2, 4))()  # the first use of a backend is not counted
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


def _mean_seconds(run: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def _peak_resident(run: Callable[[], Any]) -> int:
    """Bytes by which the resident memory of this process grows while `run` runs."""
    ctypes.CDLL(None).malloc_trim(0)  # give back what was freed before
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS:")
    run()
    return max(0, _status("VmHWM:") - before)


def _status(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(name)[1].split()[0])
