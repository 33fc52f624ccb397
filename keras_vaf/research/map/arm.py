"""`Arm`, an activation or a method that the map compares."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

import keras

from keras_vaf import layers
from keras_vaf.ops.functions import get_function

Kind = Literal["fixed", "vaf", "rival"]
Kernels = Literal["glorot", "siren", "torch"]


@dataclass(frozen=True)
class Arm:
    """One activation of the map, or another method.

    Attributes:
        name: Short name, used in file names and on the command line.
        title: Name in the table and the picture.
        kind: `"fixed"`, `"vaf"` or `"rival"`. The final comparison is between the
            `"fixed"` and the `"vaf"` arm with the best validation error.
        layer: Class of the layer, in `keras_vaf.layers` or `keras.layers`, or the
            registered name of a custom class. For other methods, a name that the task
            defines.
        arguments: Arguments of the layer, as JSON values.
        kernels: Initialization of kernels and biases: `"glorot"` with biases of 0,
            `"siren"`, or `"torch"`, the default of PyTorch.
        omega: Factor of the input of the activation, required for `"siren"` kernels; 0
            for none.
        first: Additional arguments of the layer after the first kernel.
        seeded: Whether the layer takes a `seed`, which differs between layers and
            networks.
    """

    name: str
    title: str
    kind: Kind
    layer: str
    arguments: dict[str, Any] = field(default_factory=dict)
    kernels: Kernels = "glorot"
    omega: float = 0.0
    first: dict[str, Any] = field(default_factory=dict)
    seeded: bool = False

    def build(self, **arguments: Any) -> keras.layers.Layer:
        """Return a new layer.

        Args:
            **arguments: Arguments that are added to those of the arm, or replace them.
        """
        merged = {**self.arguments, **arguments}
        if self.layer == "Activation":
            function = get_function(merged.pop("activation"), "activation")
            return keras.layers.Activation(function, **merged)
        own = keras.saving.get_registered_object(self.layer)
        if own is not None:
            return own(**merged)
        scope = layers if hasattr(layers, self.layer) else keras.layers
        return getattr(scope, self.layer)(**merged)

    def with_omega(self, omega: float) -> Arm:
        """Return the arm under another name, in a network initialized as in SIREN."""
        return dataclasses.replace(
            self,
            name=f"{self.name}-siren",
            title=f"{self.title}, SIREN",
            kernels="siren",
            omega=omega,
        )


def _fixed(name: str, title: str) -> Arm:
    return Arm(name, title, "fixed", "Activation", {"activation": name})


def _vaf(g: str, title: str) -> Arm:
    arguments = {"k": 3, "g": g}
    return Arm(f"vaf-{g}", f"VAF from {title}", "vaf", "VAFActivation", arguments)


_NAMES = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "tanh": "tanh", "sin": "sin"}

FIXED = tuple(_fixed(*pair) for pair in _NAMES.items())
"""The fixed activations of every task."""

VAFS = tuple(_vaf(*pair) for pair in _NAMES.items())
"""One VAF per fixed activation, which starts at it: an equal number of candidates."""

PRELU = Arm("prelu", "PReLU", "rival", "PReLU")
RATIONAL = Arm("rational", "Rational", "rival", "Rational", {"initialization": "silu"})
KAF = Arm("kaf", "KAF", "rival", "KAF")

EVERYWHERE = (*FIXED, *VAFS, PRELU, RATIONAL, KAF)
"""The arms of every task whose network does not limit the slope of activations."""
