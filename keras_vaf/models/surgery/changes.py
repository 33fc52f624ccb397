"""`Change`, which records what becomes of one activation of a model."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.fixed_activations import label
from keras_vaf.models.analysis.held import Place
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)


class NewActivation(NamedTuple):
    """The replacement of an activation.

    Args:
        layer: A layer that is called in place of the old activation.
        before: Name of the old activation in reports.
        after: Name of the new activation in reports.
        error: Largest difference between the two functions, if it was measured.
        nearest: The known function nearest to the old activation, or `""` if it was not
            determined.
    """

    layer: keras.layers.Layer
    before: str
    after: str
    error: float | None = None
    nearest: str = ""


class KeptError(Exception):
    """The reason why an activation is kept."""


@dataclasses.dataclass
class Change:
    """The change of an activation. Without a replacement and a reason, it is ignored.

    Args:
        place: The activation.
        new: Its replacement, or `None`.
        kept: Reason why it is kept.
        outer: The new layer that is or contains the replacement, once it is made.
    """

    place: Place
    new: NewActivation | None = None
    kept: str = ""
    outer: Any = None


def report_of(
    changes: Sequence[Change],
    calls: Sequence[tuple[Any, str]] = (),
    not_searched: int = 0,
) -> ConversionReport:
    """Return the report of a new model that has all its weights.

    Args:
        changes: The changes of its activations.
        calls: Layers whose code calls an activation, each with the activation's name.
        not_searched: As for `ConversionReport`.
    """
    replaced, kept = [], []
    for change in changes:
        place, new = change.place, change.new
        if change.kept:
            kept.append(
                KeptActivation(place.path, label(place.activation), change.kept)
            )
        elif new is not None:
            inside = change.outer is not new.layer
            layers = equals(new.layer, change.outer) if inside else [new.layer]
            added = sum(map(_parameters, layers)) - _parameters(place.activation)
            names = place.path, new.before, new.after
            replaced.append(ReplacedActivation(*names, new.error, added, new.nearest))
    for layer, name in calls:
        reason = f"the code of {type(layer).__name__} calls it"
        kept.append(KeptActivation(layer.name, name, reason))
    return ConversionReport(tuple(replaced), tuple(kept), None, not_searched)


def equals(layer: keras.layers.Layer, outer: Any) -> list[keras.layers.Layer]:
    """Return the layers inside `outer` with the class and name of a layer."""
    found = find_layers(outer, type(layer)).values()
    return [each for each in found if each.name == layer.name]


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)
