"""What the package promises about its cost, each promise beside what was measured."""

import dataclasses
import statistics

from benchmarks.speed.cases import (
    FIT_MODES,
    JAX,
    MODES,
    PRELU,
    RELU,
    TANH,
    TENSORFLOW,
    TENSORFLOW_XLA,
    TORCH,
    TORCH_COMPILE,
    Activation,
    Mode,
    vaf,
)

# Numbers by study, mode, activation and name.
Values = dict[tuple[str, str, Activation, str], list[float]]


@dataclasses.dataclass(frozen=True)
class Figure:
    """A measured quantity, in any mode."""

    study: str
    activation: Activation
    name: str

    def of(self, values: Values, mode: str) -> list[float] | None:
        return values.get((self.study, mode, self.activation, self.name))


@dataclasses.dataclass(frozen=True)
class Aim:
    """A figure, or its ratio to another of the same run, that must not exceed a limit.

    Args:
        what: Said to the reader.
        limit: Largest value that meets the aim.
        modes: Where it applies.
        figure, reference: Their ratio is taken within each repetition.
    """

    what: str
    limit: float
    modes: tuple[Mode, ...]
    figure: Figure
    reference: Figure | None = None

    def value(self, values: Values, mode: str) -> float | None:
        """Median over the repetitions; `None` if it was not measured."""
        figures = self.figure.of(values, mode)
        if self.reference is None or figures is None:
            return None if figures is None else max(figures)
        references = self.reference.of(values, mode)
        if references is None:
            return None
        ratios = (a / b for a, b in zip(figures, references, strict=True))
        return statistics.median(ratios)


def _both(activation: Activation) -> Figure:
    return Figure("operation", activation, "forward_backward")


def _operation(
    what: str,
    limit: float,
    modes: tuple[Mode, ...],
    activation: Activation,
    reference: Activation,
) -> Aim:
    return Aim(what, limit, modes, _both(activation), _both(reference))


def _network(
    what: str, limit: float, modes: tuple[Mode, ...], study: str, name: str
) -> Aim:
    return Aim(
        what, limit, modes, Figure(study, vaf(), name), Figure(study, RELU, name)
    )


def _input(
    what: str, limit: float, mode: Mode, activation: Activation, name: str
) -> Aim:
    return Aim(
        what,
        limit,
        (mode,),
        Figure("operation", activation, name),
        Figure("operation", activation, "input_bytes"),
    )


def _error(elements: str, limit: float, g: str) -> Aim:
    figure = Figure("accuracy", vaf(g=g), f"error at {elements} elements")
    what = f"error of the gradients at {elements} elements, {g}"
    return Aim(what, limit, MODES, figure)


COMPILED = (JAX, TENSORFLOW_XLA, TENSORFLOW, TORCH_COMPILE)

AIMS = (
    _operation("forward+backward, to ReLU", 1.5, COMPILED, vaf(), RELU),
    _operation("the floor: forward+backward, to PReLU", 1.0, MODES, vaf(), PRELU),
    _operation(
        "forward+backward, to the k axis materialised",
        1 / 6,
        (JAX, TENSORFLOW_XLA),
        vaf(),
        vaf(subject="materialised"),
    ),
    _operation("growth: k = 15 to k = 3", 4.0, MODES, vaf(15), vaf(3)),
    _operation(
        "g = tanh, forward+backward, to one tanh", 5.2, MODES, vaf(g="tanh"), TANH
    ),
    *(
        _input(
            f"temporaries, k = {k}, to the input", 0.25, JAX, vaf(k), "temporary_bytes"
        )
        for k in (3, 15)
    ),
    *(
        _input(
            f"kept for the backward pass, k = {k}, to the input",
            1.0,
            TORCH,
            vaf(k),
            "saved_bytes",
        )
        for k in (3, 15)
    ),
    _network("cnet_B, memory of a step, to ReLU", 1.03, (JAX,), "cnet_B", "peak_bytes"),
    _network(
        "cnet_B, kept for the backward pass, to ReLU",
        1.03,
        (TORCH,),
        "cnet_B",
        "saved_bytes",
    ),
    _network("cnet_B, training step, to ReLU", 1.1, FIT_MODES, "cnet_B", "step"),
    _network("Dense 64, batch 32, step, to ReLU", 1.15, FIT_MODES, "small", "step"),
    _network(
        "cnet_B, compile time, to ReLU",
        1.5,
        (JAX, TENSORFLOW_XLA, TENSORFLOW),
        "compile",
        "compile",
    ),
    *(
        _error(elements, limit, g)
        for elements, limit in (("1e+06", 1e-6), ("1e+08", 1e-5))
        for g in ("relu", "tanh")
    ),
)
