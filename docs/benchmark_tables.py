"""Tables of costs and of scores on Wine, made from the committed reports."""

import re
from collections.abc import Iterable, Sequence

from report_files import Row, render, rows_of

_BENCHMARK = "benchmarks/cpu.md"
_WINE = "family/wine.md"
_VAF = "VAF, k=3, relu, layer"
_KERNELS = "VAF, kernels, k=3, relu, layer"
_MODES = {
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "tensorflow-xla": "TensorFlow, `jit_compile=True`",
    "torch": "PyTorch",
    "torch-compile": "PyTorch, `torch.compile`",
}


def _of_activations(
    report: str, heading: str, activations: Iterable[str] = ()
) -> list[Row]:
    """Return a table whose first column names activations, some of them or all."""
    rows = rows_of(report, heading)
    key = next(iter(rows[0]))
    wanted = tuple(activations) or tuple(row[key] for row in rows)
    by_name = {row[key]: row for row in rows}
    return [
        {"activation": name} | {k: v for k, v in by_name[name].items() if k != key}
        for name in wanted
    ]


def _with_modes(rows: Sequence[Row]) -> str:
    """Return a table of a benchmark, its modes by the names that people know."""
    filled = [k for k in rows[0] if any(row[k] for row in rows)]
    return render([{_MODES.get(k, k): row[k] for k in filled} for row in rows])


def wine() -> str:
    """Scores of some activations, and of a wider ReLU network, on Wine."""
    names = (
        *(
            "ReLU",
            "VAF, ReLU start",
            "VAF, rescaled random start",
            "PReLU",
            "KAF",
            "SiLU",
        ),
        *("ReLU, as many parameters", "majority class"),
    )
    return render(_of_activations(_WINE, "", names))


def operation() -> str:
    """Time of forward and backward pass on one large array."""
    shapes = [f"{k}, relu, layer" for k in (1, 3, 5, 15)]
    shapes += ["3, tanh, layer", "15, tanh, layer", "3, silu, layer"]
    shapes += ["3, relu, channel", "3, relu, neuron"]
    forms = (
        f"{form}, k={shape}" for form in ("VAF", "VAF, kernels") for shape in shapes
    )
    names = ("ReLU", "PReLU", "tanh", "silu", *forms)
    rows = _of_activations(_BENCHMARK, "Forward and backward, ms", names)
    return _with_modes(rows)


def training_step() -> str:
    """Time of a training step of two networks."""
    headings = {
        "convolutional network": "Training step of cnet_B, ms",
        "two dense layers of 64": "Training step of a small network, ms",
    }
    rows = [
        {"network": network, **row}
        for network, heading in headings.items()
        for row in _of_activations(_BENCHMARK, heading)
    ]
    return _with_modes(rows)


def kept() -> str:
    """Memory that each form of an activation stores for the backward pass."""
    forms = ("VAF", "VAF, autodiff", "VAF, materialised")
    vafs = (f"{form}, k={k}, relu, layer" for form in forms for k in (3, 15))
    rows = _of_activations(
        _BENCHMARK, "Kept for the backward pass, MB", ("ReLU", "PReLU", *vafs)
    )
    return _with_modes(rows)


def backends() -> str:
    """Times of the same work on each backend, with ReLU and with a VAF."""
    headings = {
        "dense, step, ms": "Training step of a small network, ms",
        "convolutional, step, ms": "Training step of cnet_B, ms",
        "convolutional, compilation, s": "Compile time of cnet_B, s",
    }
    columns = {
        f"{what}: {name}": row
        for what, heading in headings.items()
        for name, row in zip(
            ("ReLU", "VAF"),
            _of_activations(_BENCHMARK, heading, ("ReLU", _VAF)),
            strict=True,
        )
    }
    return render(
        [
            {"backend": title} | {what: row[mode] for what, row in columns.items()}
            for mode, title in _MODES.items()
            if any(row.get(mode) for row in columns.values())
        ]
    )


def family_time() -> str:
    """Time of forward and backward pass of the compared activations."""
    return _with_modes(_of_activations(_BENCHMARK, "Family, forward and backward, ms"))


def family_memory() -> str:
    """Memory that a pass of the compared activations adds to a process.

    Ratios to ReLU are left out where ReLU needs less than 1 MB.
    """
    rows = _of_activations(_BENCHMARK, "Family, resident memory of a pass, MB")
    relu = rows[0]
    small = {mode for mode, cell in relu.items() if re.match(r"0\.\d", cell)}
    return _with_modes(
        [{k: v.split(" ")[0] if k in small else v for k, v in r.items()} for r in rows]
    )


def machine() -> str:
    """Machine, date and versions of the benchmark."""
    rows = {row["machine"]: row[""] for row in rows_of(_BENCHMARK)}
    packages = ("keras", "tensorflow", "jax", "torch")
    versions = ", ".join(f"{name} {rows[name]}" for name in packages if name in rows)
    return (
        f"Measured by `python -m benchmarks` on {rows['date']}, on {rows['cores']} "
        f"cores of {rows['processor']}, with {versions}. Numbers in parentheses are "
        "ratios to ReLU."
    )


def cost_summary() -> str:
    """Time and memory of a VAF relative to ReLU, without and with native kernels."""
    measured = {
        "training step of a convolutional network": "Training step of cnet_B, ms",
        "the activation alone, forward and backward": "Forward and backward, ms",
        "memory kept for the backward pass": "Kept for the backward pass, MB",
    }
    lines = []
    for what, heading in measured.items():
        for name, manner in ((_VAF, ""), (_KERNELS, ", native kernels")):
            if "memory" in what and manner:
                continue
            ratios = _ratios(heading, name)
            lines.append({"k = 3, g = relu, relative to ReLU": what + manner} | ratios)
    return render(lines)


def _ratios(heading: str, name: str) -> Row:
    """Return the ratios of an activation to ReLU, by the titles of the backends."""
    [row] = _of_activations(_BENCHMARK, heading, [name])
    modes = ("jax", "tensorflow", "torch")
    found = {_MODES[mode]: re.search(r"\((.*?)\)", row[mode]) for mode in modes}
    return {title: ratio[1] if ratio else "" for title, ratio in found.items()}


TABLES = (
    *(wine, operation, training_step, kept, backends),
    *(family_time, family_memory, machine, cost_summary),
)
