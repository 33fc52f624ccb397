"""`learned_layers` and `learned_formulas`, the trainable activations of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.experiments.reports.report import Report, validation_loss
from keras_vaf.experiments.results.selection import by_protocol
from keras_vaf.layers import TrainableActivation
from keras_vaf.models import formula
from keras_vaf.utils import check_kind

_DIGITS = 4


def learned_layers(report: Report) -> list[TrainableActivation]:
    """Return the trainable activations of a report as layers with their weights.

    Args:
        report: A report.

    Returns:
        The activations of the report that belong to this package, in order.

    Raises:
        ValueError: If `report` is not a report, or its activations cannot be restored.
    """
    check_kind("report", report, Report)
    try:
        layers = [_layer(activation, learned=True) for activation in report.activations]
    except Exception as error:  # Keras raises errors of any class
        cell = report.cell
        raise ValueError(
            "The activations of a report must be layers with their weights: remove the "
            f"report and run again. Received: {cell.protocol.variant.name} on "
            f"{cell.protocol.dataset}, seed {cell.seed}, fold {cell.fold + 1} ({error})"
        ) from error
    return [layer for layer in layers if isinstance(layer, TrainableActivation)]


def _layer(activation: dict[str, Any], learned: bool) -> keras.layers.Layer:
    layer = keras.layers.deserialize(activation["config"])
    if learned and isinstance(layer, TrainableActivation):
        layer.set_weights([np.asarray(w) for w in activation["weights"].values()])
    return layer


def start_layers(report: Report) -> list[TrainableActivation]:
    """Return the trainable activations of a report before training.

    The configuration of a layer has the seed of its initial weights.

    Args:
        report: A report.

    Returns:
        The activations of `learned_layers`, with their initial weights.
    """
    layers = [_layer(activation, learned=False) for activation in report.activations]
    return [layer for layer in layers if isinstance(layer, TrainableActivation)]


def inputs_of(report: Report, place: int) -> np.ndarray:
    """Return values with the distribution of the inputs of an activation.

    Args:
        report: A report.
        place: Index of the activation, counted from 0.

    Returns:
        20,001 values, evenly spaced in rank, interpolated between the stored quantiles.
    """
    quantiles = report.activations[place]["inputs"]
    levels = np.linspace(0, 1, len(quantiles))
    return np.interp(np.linspace(0, 1, 20_001), levels, quantiles)


def learned_formulas(reports: Sequence[Report]) -> str:
    """Return the formulas of learned functions as Markdown, or "" if there are none.

    For each protocol, they are those of the fold with the lowest validation loss. A
    layer is left out if it has several functions or cannot be written as a VAF.

    Args:
        reports: The reports of a comparison.
    """
    parts = []
    for own in by_protocol(reports).values():
        best = min(own, key=validation_loss)
        for place, layer in enumerate(learned_layers(best)):
            if layer.function(0.0).ndim > 0:
                continue
            try:
                text = formula(layer, digits=_DIGITS, data=inputs_of(best, place))
            except ValueError:  # it cannot be written as a VAF
                continue
            title = f"{best.protocol.variant.title}, hidden layer {place + 1}"
            parts.append(f"{title}, fold {best.fold + 1}:\n\n```text\n{text}\n```\n")
    return "\n".join(["## Learned functions\n", *parts]) if parts else ""
