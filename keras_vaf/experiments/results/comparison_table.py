"""`comparison_table`, the table of `compare`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.notes import (
    gain_note,
    p_value,
    protocol_notes,
    trainings_note,
)
from keras_vaf.experiments.results.result import results_of
from keras_vaf.experiments.results.table import Table, constant_cells, result_cells
from keras_vaf.experiments.results.verdict import corrected_p

COLUMNS = (
    *("activation", "mean", "deviation", "wins/ties/losses", "gain", "p", "p (Holm)"),
    *("parameters", "FLOPs", "seconds"),
)
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
    number = ".4f" if first.metric == "accuracy" else ".4g"
    rows = [
        *(
            result_cells(each, number)
            | {"activation": each.title, "p (Holm)": p_value(p).removeprefix("= ")}
            for each, p in zip(results, corrected_p(results), strict=True)
        ),
        constant_cells(first, number) | {"activation": baseline_title(first.protocol)},
    ]
    return Table.of(title_of(reports), COLUMNS, rows, _notes(reports), _SHOWN)


def title_of(reports: Sequence[Report]) -> str:
    """Return the title of a comparison."""
    protocol = reports[0].protocol
    hidden = "-".join(map(str, protocol.hidden))
    return f"{metric_title(protocol)} on {protocol.dataset}, hidden layers {hidden}"


def metric_title(protocol: Protocol) -> str:
    """Return the name of the metric for readers."""
    return {"accuracy": "Accuracy", "rmse": "RMSE"}[protocol.metric]


def baseline_title(protocol: Protocol) -> str:
    """Return the name of the constant predictor."""
    return {"accuracy": "majority class", "rmse": "constant (mean)"}[protocol.metric]


def _notes(reports: Sequence[Report]) -> list[str]:
    """Return the notes under the table, which explain its numbers."""
    protocol = reports[0].protocol
    better = "Higher" if protocol.metric == "accuracy" else "Lower"
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
        f"{better} is better; the deviation is that of the test folds. "
        f"{gain_note(protocol.variant.title)} p (Holm) is "
        "corrected for the number of activations, the intervals are not.",
        trainings_note(reports),
        *protocol_notes(reports),
        *([tried] if any(report.protocol.trials > 1 for report in reports) else []),
        "FLOPs count one sample's way through the network; each elementary operation "
        "of an activation counts as one.",
        f"Seconds are those of all trainings of a line, on {', '.join(places)}.",
        *([mixed] if len(environments) > 1 else []),
    ]
