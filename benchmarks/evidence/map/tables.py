"""Show errors and step times behind the questions M1 to M3, O1 and O2.

`python -m benchmarks.evidence.map.tables` reads the packed records and the measured
times, and writes `map_times.md`, `map_ratios.md`, `map_ratios_steps.md` and
`functions.md` to `docs/reports/evidence`. What is not part of the questions is
exploratory.
"""

from __future__ import annotations

import json
import sys

import pandas as pd

from benchmarks.evidence.answers import PACKED, packed_frame
from benchmarks.evidence.map.functions import DRAWS, KINDS, NAMES
from benchmarks.evidence.map.study import PRICES
from benchmarks.evidence.ratios import counts
from benchmarks.evidence.seed_answers import (
    CHOICE_SEEDS,
    function_errors,
    seed_ratio,
    tuned_frequency,
)
from keras_vaf.experiments.results.ratio import Ratio
from keras_vaf.utils import markdown_table, write_atomically

TITLES = {
    "relu": "ReLU",
    "silu": "SiLU",
    "tanh": "tanh",
    "sin": "sine",
    "vaf-1": "VAF, k = 1",
    "vaf-3": "VAF, k = 3",
    "xielu": "xIELU",
}
DATASETS = {
    "mnist": "new labels",
    "beats": "beats",
    "chirp": "chirp",
    "scales": "scales",
}


def times_table(seconds: dict[str, dict[str, float]]) -> str:
    """Return the times of a step in microseconds.

    Args:
        seconds: Those of each activation, by task. The names of functions without the
            native kernel begin with "plain".
    """
    lines = []
    for name, title in TITLES.items():
        kernels = [each.get(name) for each in seconds.values()]
        plain = [each.get(f"plain {name}") for each in seconds.values()]
        if name == "xielu":  # it has no kernel
            plain, kernels = kernels, plain
        cells = [cell for pair in zip(plain, kernels, strict=True) for cell in pair]
        lines.append(
            [title, *("" if each is None else f"{1e6 * each:.0f}" for each in cells)]
        )
    columns = ["activation"]
    for task in seconds:
        columns += [f"{task}, XLA", f"{task}, kernel"]
    return markdown_table(columns, lines, text_columns=1)


def ratios_table(frame: pd.DataFrame) -> str:
    """Return the ratios of errors to those of the plain sine, with 95 % intervals.

    Args:
        frame: The trainings, of which three seeds select.
    """
    lines: dict[str, list[str]] = {}
    for dataset in DATASETS:
        rows = frame[frame.dataset == dataset]
        tried = rows.seed.isin(CHOICE_SEEDS)
        tuned = tuned_frequency(rows[tried])
        for name in (tuned, "vaf-1", "vaf-3", "silu", "tanh", "xielu"):
            title = TITLES[name] if name != tuned else "sine, tuned frequency w"
            found = seed_ratio("", rows[~tried], name, "sin")
            low, high = found.interval
            cell = f"{found.estimate:.3g} ({low:.3g} to {high:.3g})"
            if name == tuned:
                frequency = name.partition("-")[2] or "1"
                cell = f"{cell}, w = {frequency}" if name != "sin" else "1, w = 1"
            lines.setdefault(title, []).append(cell)
    columns = ["activation", *DATASETS.values()]
    return markdown_table(
        columns, [[title, *cells] for title, cells in lines.items()], text_columns=1
    )


def functions_table(frame: pd.DataFrame, wider: pd.DataFrame) -> str:
    """Return the ratios of VAFs' errors to those of a sine on random functions.

    Args:
        frame: The trainings of O1 and O2, of which three seeds select.
        wider: The same with the start ω = 40.
    """
    lines = [functions_row(f"{kind}, {DRAWS}", frame, kind) for kind in KINDS]
    lines.append(functions_row(f"all, {len(NAMES)}", frame))
    both = pd.concat([frame, wider])
    lines.append(functions_row(f"all, {len(NAMES)}, with ω = 40 as well", both))
    columns = ["functions", "k = 1, tuned sine", "k = 3, tuned sine"]
    columns += ["k = 1, sine with w = 1", "k = 3, sine with w = 1"]
    return markdown_table(columns, lines, text_columns=1)


def functions_row(title: str, frame: pd.DataFrame, kind: str = "") -> list[str]:
    """Return ratios, 95 % intervals, and numbers of functions with less : more error.

    Args:
        title: The first cell.
        frame: The trainings, of which three seeds select.
        kind: Kind of the functions; all by default.
    """
    frame = frame[frame.dataset.str.startswith(kind)]
    cells = [title]
    for rows in (frame, frame[~frame.arm.str.startswith("sin-")]):
        errors = function_errors(rows)
        for arm in ("vaf-1", "vaf-3"):
            found = Ratio.of(errors[arm], errors["sin"])
            better, worse, _ = counts(found)
            cells.append(f"{found.text(3)}, {better} : {worse}")
    return cells


def main() -> int:
    """Write the tables."""
    seconds = json.loads(PRICES.read_text(encoding="utf-8"))["seconds"]
    write_atomically(PACKED / "map_times.md", f"{times_table(seconds)}\n")
    for study, name in (("map", "map_ratios"), ("map-steps", "map_ratios_steps")):
        table = f"{ratios_table(packed_frame(study))}\n"
        write_atomically(PACKED / f"{name}.md", table)
    text = functions_table(packed_frame("functions"), packed_frame("functions-wider"))
    write_atomically(PACKED / "functions.md", f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
