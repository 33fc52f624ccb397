"""`comparison_table`, the table of `compare`."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.differences import corrected_p
from keras_vaf.experiments.results.notes import (
    gain_note,
    p_value,
    protocol_notes,
    trainings_note,
)
from keras_vaf.experiments.results.result import Result, reference_results, results_of
from keras_vaf.experiments.results.selection import networks_of
from keras_vaf.experiments.results.table import Table, constant_cells, result_cells
from keras_vaf.utils import deviation, require

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    *("activation", "mean", "deviation", "wins/ties/losses", "gain", "p", "p (Holm)"),
    *("parameters", "FLOPs", "seconds"),
)
REFERENCE_NOTE = (
    "The linear model and the trees of scikit-learn have their default settings; no "
    "test includes them."
)
"""Explains the lines of the references."""

_SHOWN = (
    "activation",
    "mean",
    "deviation",
    "gain",
    "p (Holm)",
    "parameters",
    "seconds",
)


def comparison_table(reports: Sequence[Report]) -> Table:
    """Return the table of a comparison, with notes that explain it.

    Args:
        reports: Reports of one dataset. All protocols must have the same seeds and
            folds. The activation of the first protocol is the reference.

    Returns:
        A table with one row per protocol, and one row for the constant predictor.

    Raises:
        ValueError: If `reports` is empty, or if a protocol lacks a fold of the first
            protocol.
        ImportError: If SciPy is not installed.
    """
    results = results_of(reports)
    first = results[0]
    number = number_of(first.metric)
    references = [
        {"activation": each.title, **_without_cost(result_cells(each, number))}
        for each in reference_results(reports)
    ]
    rows = [
        *(
            result_cells(each, number)
            | {"activation": each.title, "p (Holm)": p_value(p).removeprefix("= ")}
            for each, p in zip(results, corrected_p(results), strict=True)
        ),
        *references,
        constant_cells(first, number) | {"activation": baseline_title(first.protocol)},
    ]
    networks = networks_of(reports)
    tested = f"{gain_note(first.title)} p (Holm) is corrected for the number of "
    tested += "activations, the intervals are not."
    if references:
        tested += f" {REFERENCE_NOTE}"
    return Table.of(
        title_of(reports),
        COLUMNS,
        rows,
        _notes(networks, tested),
        _SHOWN,
        shown_notes=_shown_notes(
            networks, tested.replace("Wins, ties, losses, gain", "Gain")
        ),
    )


def comparison_frame(reports: Sequence[Report]) -> pandas.DataFrame:
    """Return the numbers of a comparison as a pandas DataFrame.

    The index is the name of the model. `mean` and `deviation` are those of the test
    scores, in units of the target for a regression. `gain` is the mean improvement over
    the first activation, `interval` half of its 95% interval, and `p` its p-value with
    Holm's correction. `seconds` is the duration of all trainings. What a model does not
    have is NaN.

    Args:
        reports: As for `comparison_table`.

    Raises:
        ImportError: If pandas is not installed.
    """
    pandas = require("pandas", extra="experiments")
    results = results_of(reports)
    rows = [
        {
            **_scores(each.title, each.scores),
            "gain": each.gain if each.gains else None,
            "interval": each.interval,
            "p": p,
            "parameters": each.selected.reports[0].parameters,
            "seconds": _seconds(each),
        }
        for each, p in zip(results, corrected_p(results), strict=True)
    ]
    rows += [
        {**_scores(each.title, each.scores), "seconds": _seconds(each)}
        for each in reference_results(reports)
    ]
    first = results[0]
    rows.append(_scores(baseline_title(first.protocol), first.baseline))
    return pandas.DataFrame(rows).set_index("activation").astype("float64")


def _scores(title: str, scores: Sequence[float]) -> dict[str, Any]:
    mean, spread = statistics.fmean(scores), deviation(scores)
    return {"activation": title, "mean": mean, "deviation": spread}


def _seconds(result: Result) -> float:
    return math.fsum(report.seconds for report in result.selected.reports)


def number_of(metric: str) -> str:
    """Return the format of a score, as in `result_cells`."""
    return ".4f" if metric == "accuracy" else ""


def _without_cost(cells: dict[str, str]) -> dict[str, str]:
    """Return the cells of a reference, whose size is not that of a network."""
    return {name: cells[name] for name in ("mean", "deviation", "seconds")}


def title_of(reports: Sequence[Report]) -> str:
    """Return the title of a comparison."""
    protocol = networks_of(reports)[0].protocol
    hidden = "-".join(map(str, protocol.hidden))
    return f"{metric_title(protocol)} on {protocol.dataset}, hidden layers {hidden}"


def metric_title(protocol: Protocol) -> str:
    """Return the name of the metric for readers."""
    return {"accuracy": "Accuracy", "rmse": "RMSE"}[protocol.metric]


def baseline_title(protocol: Protocol) -> str:
    """Return the name of the constant predictor."""
    return {"accuracy": "majority class", "rmse": "constant (mean)"}[protocol.metric]


def _shown_notes(reports: Sequence[Report], tested: str) -> list[str]:
    """Return the notes for a terminal, which explain the columns shown there."""
    return [
        f"{_better(reports)} {tested}",
        "Seconds are those of all trainings of a line.",
    ]


def _better(reports: Sequence[Report]) -> str:
    higher = reports[0].protocol.metric == "accuracy"
    better = "Higher" if higher else "Lower"
    return f"{better} is better; the deviation is that of the test folds."


def _notes(reports: Sequence[Report], tested: str) -> list[str]:
    """Return the notes under the table, which explain its numbers."""
    places = sorted(
        {f"{r.environment['backend']} ({r.environment['device']})" for r in reports}
    )
    environments = {json.dumps(r.environment, sort_keys=True) for r in reports}
    tried = (
        "In each fold, the learning rate and the start with the best validation score "
        "were selected."
    )
    mixed = (
        f"The trainings ran in {len(environments)} different environments (versions, "
        "devices), which report.json names."
    )
    return [
        f"{_better(reports)} {tested}",
        trainings_note(reports),
        *protocol_notes(reports),
        *([tried] if any(report.protocol.trials > 1 for report in reports) else []),
        "FLOPs count one sample's way through the network; each elementary operation "
        "of an activation counts as one.",
        f"Seconds are those of all trainings of a line, on {', '.join(places)}.",
        *([mixed] if len(environments) > 1 else []),
    ]
