"""`Decisions`, which asks for new activations and records them for the report."""

from collections.abc import Callable
from typing import Any

import numpy as np

from keras_vaf.models.surgery.fixed_activations import label
from keras_vaf.models.surgery.places import KeptError, NewActivation, Place
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)
from keras_vaf.models.surgery.weights import equals


class Decisions:
    """What happens to each activation of a model.

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
            replaced.append(
                ReplacedActivation(
                    place.path, new.before, new.after, new.error, added, new.nearest
                )
            )
        return ConversionReport(tuple(replaced), tuple(self._kept))


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)
