"""The promises of the package about its cost, next to the measured values."""

import dataclasses
import statistics
from typing import Any

from benchmarks.speed.cases import (
    FIT_MODES,
    JAX,
    MODES,
    PLAIN_MODES,
    PRELU,
    RELU,
    SILU,
    TANH,
    TENSORFLOW,
    TORCH,
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
        times: The ratio is to this many references.
        difference: Whether the difference counts, not the ratio.
    """

    what: str
    limit: float
    modes: tuple[Mode, ...]
    figure: Figure
    reference: Figure | None = None
    times: int = 1
    difference: bool = False

    def value(self, values: Values, mode: str) -> float | None:
        """Median over the repetitions; `None` if it was not measured."""
        figures = self.figure.of(values, mode)
        if self.reference is None or figures is None:
            return None if figures is None else max(figures)
        references = self.reference.of(values, mode)
        if references is None:
            return None
        pairs = zip(figures, references, strict=True)
        if self.difference:
            return statistics.median(a - b for a, b in pairs)
        return statistics.median(a / (self.times * b) for a, b in pairs)


def _speed(subject: str, where: str) -> tuple[Aim, ...]:
    """The aims for speed, with native kernels or without."""
    native = subject == "native"

    def own(k: int = 3, g: str = "relu") -> Activation:
        return vaf(k, g, subject=subject)

    def aim(
        what: str,
        limits: tuple[float, float],
        modes: tuple[Mode, ...],
        figure: tuple[str, Activation, str],
        reference: tuple[str, Activation, str],
        **options: Any,
    ) -> Aim:
        limit = limits[0] if native else limits[1]
        pair = Figure(*figure), Figure(*reference)
        return Aim(f"{what}, {where}", limit, modes, *pair, **options)

    def both(study: str, activation: Activation) -> tuple[str, Activation, str]:
        return study, activation, "forward_backward"

    base, relu = both("operation", own()), both("operation", RELU)
    eager = PRELU if not native else RELU
    return (
        aim("forward+backward, to ReLU", (1.2, 2.7), (JAX, TENSORFLOW), base, relu),
        aim(
            f"forward+backward, to {eager.label}",
            (1.25, 1.7),
            (TORCH,),
            base,
            both("operation", eager),
        ),
        aim(
            "growth: k = 15 to k = 3",
            (2, 3.5),
            (JAX, TENSORFLOW),
            both("operation", own(15)),
            base,
        ),
        aim(
            "growth: k = 15 to k = 3, eager",
            (2, 4),
            (TORCH,),
            both("operation", own(15)),
            base,
        ),
        *(
            aim(
                f"g = {fixed.subject}, to 4 times the fixed function",
                (1, 1.2),
                PLAIN_MODES,
                both("smooth", own(g=fixed.subject)),
                both("smooth", fixed),
                times=4,
            )
            for fixed in (TANH, SILU)
        ),
        aim(
            "small array, 32 x 64, to ReLU",
            (1.5, 2.5),
            PLAIN_MODES,
            ("sizes", own(), "2048 elements"),
            ("sizes", RELU, "2048 elements"),
        ),
        *(
            aim(f"{what}, training step", limits, modes, *figures)
            for what, limits, modes, figures in (
                (
                    "cnet_B, to ReLU",
                    (1.05, 1.15),
                    FIT_MODES,
                    (("cnet_B", own(), "step"), ("cnet_B", RELU, "step")),
                ),
                (
                    "Dense 64, batch 32, to ReLU",
                    (1.2, 1.3),
                    FIT_MODES,
                    (("small", own(), "step"), ("small", RELU, "step")),
                ),
                (
                    "physics-informed network, to tanh",
                    (2, 2),
                    PLAIN_MODES,
                    (("pinn", own(g="tanh"), "step"), ("pinn", TANH, "step")),
                ),
            )
        ),
        aim(
            "cnet_B, first call, seconds more than ReLU",
            (0.5, 2),
            (TENSORFLOW,),
            ("compile", own(), "compile"),
            ("compile", RELU, "compile"),
            difference=True,
        ),
        *(
            Aim(
                f"error of the gradients at {elements} elements, {g}, {where}",
                limit,
                MODES,
                Figure(study, own(g=g), f"error at {elements} elements"),
            )
            for study, elements, limit in (
                ("accuracy", "1e+06", 1e-6),
                ("accuracy_large", "1e+08", 1e-5),
            )
            for g in ("relu", "tanh")
        ),
    )


def _inference(k: int, limit: float) -> Aim:
    figures = (Figure("operation", a, "forward") for a in (vaf(k), RELU))
    return Aim(f"inference, k = {k}, to ReLU", limit, (TENSORFLOW,), *figures)


def _network(what: str, limit: float, mode: Mode, name: str) -> Aim:
    figures = (Figure("cnet_B", activation, name) for activation in (vaf(), RELU))
    return Aim(what, limit, (mode,), *figures)


def _input(
    what: str, limit: float, mode: Mode, activation: Activation, name: str
) -> Aim:
    figures = (Figure("operation", activation, n) for n in (name, "input_bytes"))
    return Aim(what, limit, (mode,), *figures)


AIMS = (
    *_speed("native", "with kernels"),
    *_speed("ours", "without kernels"),
    *(_inference(k, limit) for k, limit in ((3, 1.2), (15, 2))),
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
    _network("cnet_B, memory of a step, to ReLU", 1.03, JAX, "peak_bytes"),
    _network("cnet_B, kept for the backward pass, to ReLU", 1.03, TORCH, "saved_bytes"),
)
