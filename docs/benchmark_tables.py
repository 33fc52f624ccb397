"""Tables of costs and of scores on Wine, made from the committed reports."""

import dataclasses
import functools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import report_files
from report_files import Row, render

from keras_vaf.experiments import comparison_table, read_reports
from keras_vaf.utils import parse_json

sys.path.append(str(Path(__file__).parents[1]))  # where the package `benchmarks` is

_VAF = "VAF, k=3, relu, layer"
_KERNELS = "VAF, kernels, k=3, relu, layer"
_MODES = {
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "tensorflow-xla": "TensorFlow, `jit_compile=True`",
    "torch": "PyTorch",
    "torch-compile": "PyTorch, `torch.compile`",
}


@functools.cache
def _benchmark() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables of the benchmark by heading, and its document."""
    from benchmarks.speed.report import TABLES, values_of

    path = report_files.REPORTS / "benchmarks/cpu.json"
    document = parse_json(path.read_bytes())
    return {table.heading: table for table in TABLES}, document | {
        "values": values_of(document["results"])
    }


def _cells(heading: str, modes: Iterable[str] = ()) -> dict[str, Row]:
    """Return a table of the benchmark by activation; some modes are without ratios."""
    from benchmarks.speed.report import cells

    tables, document = _benchmark()
    table, values = tables[heading], document["values"]
    plain = cells(dataclasses.replace(table, ratio=False), values)
    return {
        name: own | {mode: plain[name][mode] for mode in modes}
        for name, own in cells(table, values).items()
    }


def _table(rows: dict[str, Row] | list[Row]) -> str:
    """Return a table whose modes have the names that people know."""
    if isinstance(rows, dict):
        rows = [{"activation": name} | own for name, own in rows.items()]
    filled = [name for name in rows[0] if any(row[name] for row in rows)]
    shown = [{_MODES.get(name, name): row[name] for name in filled} for row in rows]
    return render(shown, sum(name not in _MODES for name in filled))


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
    table = comparison_table(read_reports(report_files.REPORTS / "family/wine.json.xz"))
    rows = {
        line[0]: dict(zip(table.columns, line, strict=True)) for line in table.lines
    }
    return render([rows[name] for name in names])


def operation() -> str:
    """Time of forward and backward pass on one large array."""
    shapes = [f"{k}, relu, layer" for k in (1, 3, 5, 15)]
    shapes += ["3, tanh, layer", "15, tanh, layer", "3, silu, layer"]
    shapes += ["3, relu, channel", "3, relu, neuron"]
    forms = (
        f"{form}, k={shape}" for form in ("VAF", "VAF, kernels") for shape in shapes
    )
    names = ("ReLU", "PReLU", "tanh", "silu", *forms)
    cells = _cells("Forward and backward, ms")
    return _table({name: cells[name] for name in names})


def training_step() -> str:
    """Time of a training step of two networks."""
    headings = {
        "convolutional network": "Training step of cnet_B, ms",
        "two dense layers of 64": "Training step of a small network, ms",
    }
    return _table(
        [
            {"network": network, "activation": name, **own}
            for network, heading in headings.items()
            for name, own in _cells(heading).items()
        ]
    )


def kept() -> str:
    """Memory that each form of an activation stores for the backward pass."""
    forms = ("VAF", "VAF, autodiff", "VAF, materialised")
    vafs = (f"{form}, k={k}, relu, layer" for form in forms for k in (3, 15))
    cells = _cells("Kept for the backward pass, MB")
    return _table({name: cells[name] for name in ("ReLU", "PReLU", *vafs)})


def backends() -> str:
    """Times of the same work on each backend, with ReLU and with a VAF."""
    headings = {
        "dense, step, ms": "Training step of a small network, ms",
        "convolutional, step, ms": "Training step of cnet_B, ms",
        "convolutional, compilation, s": "Compile time of cnet_B, s",
    }
    columns = {
        f"{what}: {name}": _cells(heading)[label]
        for what, heading in headings.items()
        for name, label in (("ReLU", "ReLU"), ("VAF", _VAF))
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
    return _table(_cells("Family, forward and backward, ms"))


def family_memory() -> str:
    """Memory that a pass of the compared activations adds to a process.

    Ratios to ReLU are left out where ReLU needs less than 1 MB.
    """
    heading = "Family, resident memory of a pass, MB"
    small = [m for m, text in _cells(heading)["ReLU"].items() if text.startswith("0.")]
    return _table(_cells(heading, small))


def machine() -> str:
    """Machine, date and versions of the benchmark."""
    from benchmarks.speed.report import environment_rows

    rows = dict(environment_rows(_benchmark()[1]))
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
    from benchmarks.speed.cases import study_named
    from benchmarks.speed.report import median_ratio

    tables, document = _benchmark()
    table = tables[heading]
    studies = map(study_named, table.studies)
    [activation] = {a for s in studies for a in s.activations if a.label == name}
    ratios = {
        mode: median_ratio(document["values"], table, mode, activation)
        for mode in ("jax", "tensorflow", "torch")
    }
    return {
        _MODES[mode]: "" if ratio is None else f"{ratio:.2f}"
        for mode, ratio in ratios.items()
    }


TABLES = (
    *(wine, operation, training_step, kept, backends),
    *(family_time, family_memory, machine, cost_summary),
)
