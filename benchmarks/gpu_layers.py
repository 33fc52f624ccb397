"""Measure VAFs on PyTorch and an NVIDIA GPU, with and without the Triton kernels.

`KERAS_BACKEND=torch python -m benchmarks.gpu_layers` writes
`docs/reports/speed/gpu_layers.md`: median times of a fixed function, and those of VAFs
relative to it. An array that is small takes the time in which Python starts the
kernels.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import plain_operators
from keras_vaf.utils import markdown_table, write_atomically

OUTPUT = Path("docs/reports/speed/gpu_layers.md")
FUNCTIONS = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "tanh": torch.tanh,
}
SHAPES = ((32, 64), (32, 32, 32, 192), (256, 56, 56, 64))
UNITS = (3, 9, 15)
FORMS = {"kernels": contextlib.nullcontext, "PyTorch's operators": plain_operators}


def microseconds(work: Callable[[], Any], form: Callable[[], Any]) -> float:
    """Return the median time of a work."""
    from triton.testing import do_bench

    with form():
        return 1000 * float(do_bench(work, return_mode="median"))


def forward(function: Callable[[Any], Any], x: torch.Tensor) -> torch.Tensor:
    """Return f(x)."""
    with torch.no_grad():
        result: torch.Tensor = function(x)
    return result


def gradients(function: Callable[[Any], Any], *tensors: torch.Tensor) -> Any:
    """Return the gradients of x and of the parameters."""
    upstream, *leaves = tensors
    return torch.autograd.grad(function(leaves[0]), leaves, upstream)


def rows(shape: tuple[int, ...]) -> Iterator[list[str]]:
    """Yield the lines of the table for one array."""
    upstream, x = (torch.randn(shape, device="cuda") for _ in range(2))
    x.requires_grad_()
    for g, fixed in FUNCTIONS.items():
        plain = contextlib.nullcontext
        once = microseconds(functools.partial(forward, fixed, x), plain)
        both = microseconds(functools.partial(gradients, fixed, upstream, x), plain)
        for k in UNITS:
            layer = VAFActivation(k=k, g=g, initialization="random")
            layer.build(shape)
            weights = [each.value for each in layer.trainable_variables]
            given = upstream, x, *weights
            cells = [
                " x ".join(map(str, shape)),
                g,
                str(k),
                f"{once:.0f}",
                f"{both:.0f}",
            ]
            for form in FORMS.values():
                own = microseconds(functools.partial(forward, layer, x), form)
                whole = microseconds(functools.partial(gradients, layer, *given), form)
                cells += [f"{own / once:.1f}", f"{whole / both:.1f}"]
            yield cells


def main() -> int:
    """Write the table."""
    if not torch.cuda.is_available():
        print("This needs an NVIDIA GPU.", file=sys.stderr)
        return 2
    columns = ["array", "g", "k", "g alone, µs", "with gradient, µs"]
    columns += [
        f"{work}, {form}" for form in FORMS for work in ("forward", "with gradient")
    ]
    lines = [line for shape in SHAPES for line in rows(shape)]
    table = markdown_table(columns, lines, text_columns=2)
    write_atomically(OUTPUT, f"{table}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
