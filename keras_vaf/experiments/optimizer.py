"""`Optimizer`, an optimizer as data, and those of the paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import keras

from keras_vaf import optimizers
from keras_vaf.utils import class_of

REFERENCE = "scikit-learn"
"""Name of the optimizer of references, which scikit-learn fits."""


@dataclass(frozen=True)
class Optimizer:
    """An optimizer as data: its class and the arguments of its constructor.

    Attributes:
        name: Name of a class in `keras_vaf.optimizers` or, failing that, in
            `keras.optimizers`; `"scikit-learn"` for a reference without a network.
        arguments: Arguments of the class, as JSON values.
        apart: Learning rate of the activation parameters, relative to that of all other
            weights. Activation parameters then have no weight decay. `None` treats all
            weights equally.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    apart: float | None = None

    def __post_init__(self) -> None:
        """Raise a `ValueError` if no class has this name."""
        if self.name != REFERENCE:
            class_of("name", self.name, optimizers, keras.optimizers)

    def build(self, model: keras.Model | None = None) -> keras.optimizers.Optimizer:
        """Return a new optimizer.

        Args:
            model: The network to train, which is required if `apart` is set.
        """
        kind = class_of("name", self.name, optimizers, keras.optimizers)
        optimizer = kind(**self.arguments)
        if self.apart is None or model is None:
            return optimizer
        return optimizers.activations_apart(model, optimizer, self.apart)


RPROP = Optimizer("Rprop", {"learning_rate": 0.01, "eta_plus": 1.2, "eta_minus": 0.5})
"""Rprop with its common settings."""

PAPER_RPROP = Optimizer(
    "Rprop", {"learning_rate": 0.01, "eta_plus": 1.01, "eta_minus": 0.5}
)
"""Rprop as in the paper, which does not specify the first step."""
