"""One process: measures activations in turn, and prints each row as JSON.

`python -m benchmarks.speed.worker` is started by `benchmarks.speed` alone.
"""

import json
import sys
from collections.abc import Iterator

import keras

from benchmarks.speed import alone, networks
from benchmarks.speed.networks import Arm
from benchmarks.speed.rows import Row, in_turn, seconds_of, summary

SECONDS = {True: 1.0, False: 4.0}  # of the rounds of an activation alone, or a network
# The place, which is the array or a key of `networks.NETWORKS`, and the fixed function.
GROUPS = (
    ("MLP", "relu"),
    (alone.ARRAY, "relu"),
    *((alone.ARRAY, g) for g in ("silu", "gelu", "tanh")),
    ("ResNet", "relu"),
    ("transformer", "gelu"),
    ("LSTM", "tanh"),
    ("MobileNetV2", "relu6"),
)


def arms(case: str, g: str) -> list[Arm]:
    """Return the activations that are compared in one place, the fixed one first."""
    found = [Arm(g), Arm("VAF", g, 3, "layer")]
    if case == "ResNet":  # XLA compiles its ReLU into a slow program
        found.append(Arm("PReLU"))
    if (case, g) == (alone.ARRAY, "relu"):
        found += [Arm("VAF", g, 9, "layer"), Arm("VAF", g, 3, "channel")]
    return found


def measure(case: str, g: str, compiled: bool, quick: bool) -> Iterator[Row]:
    """Build all activations in one place, and measure each of their works in turn."""
    steps, compared = 1, arms(case, g)
    if case == alone.ARRAY:
        programs = [alone.works(arm, compiled) for arm in compared]
    else:
        steps = networks.NETWORKS[case].steps
        programs = [networks.works(case, arm, g, compiled) for arm in compared]
    for work in programs[0]:
        runs = [each[work] for each in programs]
        times = [[seconds_of(run)] for run in runs]  # with the compilation
        if work != "first step" and not quick:
            every = in_turn(runs, SECONDS[case == alone.ARRAY])
            times = [[second / steps for second in own] for own in every]
        for arm, own in zip(compared, times, strict=True):
            about = {"case": case, **arm._asdict(), "work": work}
            yield about | summary(own, times[0])


def main() -> None:
    """Measure all groups, on the backend of the process."""
    compiled, quick = "compiled" in sys.argv, "quick" in sys.argv
    if keras.backend.backend() == "jax":
        import jax

        # Otherwise JAX may give a program to another thread, which takes several times
        # as long as a small program itself, for some programs and not for others.
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    list(measure(*GROUPS[0], compiled, quick=True))  # the first use of all
    # On TensorFlow, XLA takes minutes to compile the last ones.
    for group in GROUPS[:2] if quick else GROUPS[: -2 if compiled else None]:
        for row in measure(*group, compiled, quick):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
