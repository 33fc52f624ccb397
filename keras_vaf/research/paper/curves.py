"""`table_of_curves`, the pictures of activations before and after training."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.learned import learned_layers, start_layers
from keras_vaf.experiments.results.notes import protocol_notes
from keras_vaf.experiments.results.selection import Selection, by_protocol
from keras_vaf.experiments.results.table import Table
from keras_vaf.layers import TrainableActivation
from keras_vaf.research.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.research.paper.fully_connected import (
    CLASSIFICATIONS,
    REGRESSIONS,
    protocols_of,
)
from keras_vaf.research.paper.sensorless import SENSORLESS, protocols_of_sensorless
from keras_vaf.utils import deviation

COLUMNS = ("dataset", "activation", "layer", "change", "deviation", "unlike", "folds")
DATASETS = tuple(
    name
    for experiment in (SENSORLESS, REGRESSIONS, CLASSIFICATIONS)
    for name in experiment.datasets
)
"""Sensorless, and the datasets of both tables."""

_DRAWN = ("vaf-random", "vaf-random-rescaled", "vaf-relu")
_HIDDEN = {"paper": (25, 10), "ours": (50, 25)}


def protocols_of_curves(dataset: Dataset, form: Form) -> list[Protocol]:
    """Return the protocols whose activations are drawn.

    They are VAFs of all starts in the network 25-10 (in `ours`, 50-25), and on
    Sensorless those of five hidden units in a network of 10 (in the quick form, of 5).
    Other experiments train them too, so that nothing is trained again in their folder.
    """
    if dataset.name not in SENSORLESS.datasets:
        own = dataclasses.replace(form, architectures=(_HIDDEN[form.manner],))
        return [
            protocol
            for protocol in protocols_of(dataset, own)
            if protocol.variant.name in _DRAWN
        ]
    own = dataclasses.replace(form, architectures=((5,) if form.quick else (10,),))
    return [
        protocol
        for protocol in protocols_of_sensorless(dataset, own)
        if protocol.variant.arguments.get("k") == 5
        and protocol.variant.arguments["sharing"] == "layer"
    ]


def table_of_curves(done: Reproduction, selection: Selection) -> Table:
    """Return a picture of each dataset, and a table of how far functions moved."""
    by_data: dict[str, list[Report]] = {}
    for report in done.reports:
        by_data.setdefault(report.protocol.dataset, []).append(report)
    return Table.of(
        done.title,
        COLUMNS,
        [
            row
            for reports in by_data.values()
            for own in by_protocol(reports).values()
            for row in _rows(own)
        ],
        (
            "Change: root mean square difference between the learned function and its "
            "start over the values that enter it, in standard deviations of what the "
            "start makes of them. Unlike: the share of the learned function's variance "
            "that no leaky ReLU explains, with any two slopes and offset. Means over "
            "the folds.",
            "Pictures: learned function f of the fold with the lowest validation loss "
            "and its start, and faintly those learned in the other folds.",
            *protocol_notes(done.reports),
            *done.notes,
        ),
        figures={
            name: comparison_figure(own, scores=False) for name, own in by_data.items()
        },
    )


def _rows(reports: Sequence[Report]) -> list[dict[str, str]]:
    """Return a row of the table for each hidden layer of a protocol."""
    protocol = reports[0].protocol
    measured = zip(*map(_measured, reports), strict=True)
    rows = []
    for place, values in enumerate(measured, start=1):
        moved, other = zip(*values, strict=True)
        cells = (
            protocol.dataset,
            protocol.variant.name,
            str(place),
            f"{statistics.fmean(moved):.3f}",
            f"{deviation(moved):.3f}",
            f"{statistics.fmean(other):.3f}",
            str(len(reports)),
        )
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def _measured(report: Report) -> list[tuple[float, float]]:
    """Return `change` and `unlike` of each hidden layer."""
    layers = zip(
        start_layers(report), learned_layers(report), report.activations, strict=True
    )
    return [
        (change(start, learned, seen["inputs"]), unlike(learned, seen["inputs"]))
        for start, learned, seen in layers
    ]


def change(
    start: TrainableActivation, learned: TrainableActivation, inputs: Sequence[float]
) -> float:
    """Return the distance of a shared function from its start.

    Args:
        start: The activation at its start.
        learned: The trained one.
        inputs: Values that enter it.

    Returns:
        The root mean square difference, in standard deviations of the start's outputs.
    """
    before, after = (each.function(np.asarray(inputs)) for each in (start, learned))
    return float(np.sqrt(np.mean((after - before) ** 2)) / (before.std() or 1.0))


def unlike(learned: TrainableActivation, inputs: Sequence[float]) -> float:
    """Return the share of a function's variance that no leaky ReLU explains.

    Args:
        learned: An activation with one shared function.
        inputs: Values that enter it.

    Returns:
        A number from 0, for any a * max(x, 0) + b * min(x, 0) + c, to 1.
    """
    x = np.asarray(inputs)
    y = learned.function(x)
    parts = np.stack([np.maximum(x, 0), np.minimum(x, 0), np.ones_like(x)], axis=1)
    rest = y - parts @ np.linalg.lstsq(parts, y, rcond=None)[0]
    return float(np.mean(rest**2) / (y.var() or 1.0))


CURVES = Experiment(
    "curves",
    "Start and learned functions",
    DATASETS,
    protocols_of_curves,
    table_of_curves,
    published=(),
    quick_rows=2_200,
    functions=True,
)
