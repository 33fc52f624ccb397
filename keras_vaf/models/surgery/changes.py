"""`Changes`, which records what becomes of each activation of a model."""

from collections.abc import Callable
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


class Changes:
    """The decision about each activation of a model, and its record.

    Args:
        decide: As for `replace_activations`.
        names: Names of layers that new layers must not get.
    """

    def __init__(
        self, decide: Callable[[Place], NewActivation | None], names: set[str]
    ) -> None:
        self._decide, self._names = decide, names
        self._kept: list[KeptActivation] = []
        self._new: list[tuple[Place, NewActivation, Any]] = []

    def choose(self, place: Place) -> NewActivation | None:
        """Return the replacement of an activation, or record why it is kept."""
        name = place.name or f"{place.path.rpartition('/')[2]}_activation"
        while not place.name and name in self._names:
            name = f"{name}_vaf"
        self._names.add(name)
        try:
            return self._decide(place._replace(name=name))
        except KeptError as reason:
            self.keep(place, str(reason))
            return None

    def refuse(self, place: Place, reason: str) -> None:
        """Record that an activation is kept, unless `decide` ignores it."""
        if self.choose(place._replace(name=place.path.rpartition("/")[2])):
            self.keep(place, reason)

    def keep(self, place: Place, reason: str) -> None:
        """Record that an activation is kept."""
        activation = label(place.activation)
        self._kept.append(KeptActivation(place.path, activation, reason))

    def put(self, place: Place, new: NewActivation, outer: Any) -> None:
        """Record a replacement, and the new layer that is it or contains it."""
        self._new.append((place, new, outer))

    def report(self) -> ConversionReport:
        """Return a report of all changes."""
        replaced = []
        for place, new, outer in self._new:
            layers = [outer] if outer is new.layer else equals(new.layer, outer)
            added = sum(map(_parameters, layers)) - _parameters(place.activation)
            names = place.path, new.before, new.after
            replaced.append(ReplacedActivation(*names, new.error, added, new.nearest))
        return ConversionReport(tuple(replaced), tuple(self._kept))


def equals(layer: keras.layers.Layer, outer: Any) -> list[keras.layers.Layer]:
    """Return the layers inside `outer` with the class and name of a layer."""
    found = find_layers(outer, type(layer)).values()
    return [each for each in found if each.name == layer.name]


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)
