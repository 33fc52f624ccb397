"""Tables of costs, made from the committed report of `python -m benchmarks.speed`."""

import functools
import json
from collections.abc import Callable
from typing import Any

import pandas
import report_files
from report_files import render

from keras_vaf.experiments import comparison_table, read_reports

_TITLES = {
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "tensorflow, jit_compile=True": "TensorFlow, `jit_compile=True`",
    "torch": "PyTorch",
    "relu": "ReLU",
    "relu6": "ReLU6",
    "silu": "SiLU",
    "gelu": "GELU",
    "MLP": "MLP, 64-64, batch of 32",
    "ResNet": "ResNet, 13 activations, batch of 64",
    "MobileNetV2": "MobileNetV2, 35 activations, batch of 16",
    "transformer": "transformer, 4 blocks, batch of 16",
    "LSTM": "LSTM, 64 units, batch of 32",
}
_LARGE, _SMALL, _MEDIUM = "32 x 32 x 32 x 192", "32 x 64", "32 x 32 x 32 x 64"


@functools.cache
def _document() -> dict[str, Any]:
    return json.loads((report_files.REPORTS / "speed/cpu.json").read_bytes())


def _rows(**wanted: Any) -> pandas.DataFrame:
    """Return the rows of the report with these values, and a column of labels.

    Processes with kernels measured the other activations too. Those rows are left out.
    """
    rows = pandas.DataFrame(_document()["rows"])
    rows = rows[~rows.kernels | (rows.activation == "VAF")]
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    rows = rows.assign(
        label=rows.apply(_label, axis=1),
        is_fixed=rows.apply(lambda row: row.group.endswith(f", {row.activation}"), 1),
        place=pandas.factorize(rows.group)[0],
    )
    return rows.sort_values(["place", "kernels"], kind="stable")


def _label(row: Any) -> str:
    if row.activation != "VAF":
        return _TITLES.get(row.activation, row.activation)
    sharing = "" if row.sharing == "layer" else f", {row.sharing}"
    kernels = ", kernels" if row.kernels else ""
    return f"VAF, g = {_TITLES.get(row.g, row.g)}, k = {row.k}{sharing}{kernels}"


def _table(rows: pandas.DataFrame, show: Callable[[Any], str], **index: str) -> str:
    """Return a table with a column for each backend.

    Args:
        rows: Rows of the report, in the order of the lines.
        show: Function that returns the text of a row. Rows of one cell are joined.
        index: Columns of rows that tell the lines apart, by their titles.
    """
    backends = [name for name in _TITLES if name in set(rows.backend)]
    lines = []
    for key, own in rows.groupby(list(index.values()), sort=False):
        names = dict(
            zip(index, (_TITLES.get(value, value) for value in key), strict=True)
        )
        cells = {
            _TITLES[name]: " / ".join(show(row) for row in _of(own, name))
            for name in backends
        }
        lines.append(names | cells)
    return render(lines, len(index))


def _of(rows: pandas.DataFrame, backend: str) -> Any:
    return rows[rows.backend == backend].itertuples()


def _ratio(row: Any) -> str:
    """Return milliseconds of a fixed function, and the ratio of any other to it."""
    if row.is_fixed:
        return f"{1000 * row.seconds_median:.3g} ms"
    return f"{row.ratio:.2f} ({row.ratio_low:.2f} to {row.ratio_high:.2f})"


def cost_summary() -> str:
    """Ratios of training steps with kernels and without them."""
    rows = _rows(activation="VAF", work="training")
    rows = rows.sort_values(["place", "kernels"], ascending=[True, False])
    return _table(rows, lambda row: f"{row.ratio:.2f}", network="case")


def training_step() -> str:
    """Time of a training step of each network."""
    return _table(_rows(work="training"), _ratio, network="case", activation="label")


def inference() -> str:
    """Time of a batch of `predict` of each network."""
    return _table(_rows(work="inference"), _ratio, network="case", activation="label")


def first_step() -> str:
    """Seconds of the first step of each network."""
    rows = _rows(work="first step")
    rows = rows[rows.is_fixed | (rows.activation == "VAF")]
    return _table(rows, _seconds, network="case", activation="label")


def _seconds(row: Any) -> str:
    return f"{row.seconds_median:.2f}"


def large_array() -> str:
    """Forward and backward pass of a layer on one large array."""
    return _table(_passes(_LARGE), _ratio, activation="label")


def small_array() -> str:
    """Forward and backward pass of a layer on one small array."""
    return _table(_passes(_SMALL), _ratio, activation="label")


def family_time() -> str:
    """Forward and backward pass of the compared activations."""
    return _table(_passes(_MEDIUM), _ratio, activation="label")


def _passes(case: str) -> pandas.DataFrame:
    return _rows(case=case, work="forward and gradient")


def kept() -> str:
    """Memory that some layers keep for the backward pass on one large array."""
    return _kept(
        _LARGE, ("ReLU", "PReLU", *(f"VAF, g = ReLU, k = {k}" for k in (3, 15)))
    )


def family_memory() -> str:
    """Memory that the compared activations keep for the backward pass."""
    return _kept(_MEDIUM)


def _kept(case: str, labels: tuple[str, ...] = ()) -> str:
    rows = _passes(case)
    rows = rows[rows.kept_bytes.notna() & ~rows.kernels]
    if rows.empty:
        return "PyTorch was not measured."
    relu = rows[rows.label == "ReLU"].kept_bytes.iloc[0]
    return render(
        [
            {
                "activation": row.label,
                "megabytes": f"{row.kept_bytes / 1e6:.1f}",
                "relative to ReLU": f"{row.kept_bytes / relu:.2f}",
            }
            for row in rows.itertuples()
            if row.label in labels or not labels
        ]
    )


def machine() -> str:
    """Machine, date and versions of the report."""
    about = _document()["environment"]
    versions = ", ".join(
        f"{name} {about[name]}" for name in ("keras", "tensorflow", "jax", "torch")
    )
    return (
        f"Measured by `python -m benchmarks.speed` on {about['date']}, on "
        f"{about['cores']} cores of {about['processor']} (kernels: "
        f"{about['native kernels']}; load before: {about['load before']}), with "
        f"{versions}."
    )


def wine() -> str:
    """Scores of some activations, and of a wider ReLU network, on Wine."""
    names = ("ReLU", "VAF, ReLU start", "VAF, rescaled random start", "PReLU", "KAF")
    names += ("SiLU", "ReLU, as many parameters", "majority class")
    table = comparison_table(read_reports(report_files.REPORTS / "family/wine.json.xz"))
    rows = {
        line[0]: dict(zip(table.columns, line, strict=True)) for line in table.lines
    }
    return render([rows[name] for name in names])


TABLES = (
    *(cost_summary, training_step, inference, first_step, large_array, small_array),
    *(family_time, family_memory, kept, machine, wine),
)
