"""`Arm`, an activation or a method in the map."""

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
    """One activation of the map, or a method in its place.

    Attributes:
        name: Short name, used in file names and on the command line.
        title: Name in the table and the picture.
        kind: `"fixed"` and `"vaf"` are the candidates that are compared at the end:
            the one of each kind with the best validation error. All others are
            `"rival"`.
        layer: Class of the layer, in `keras_vaf.layers` or `keras.layers`, or the
            registered name of one's own class. Tasks give methods other words.
        arguments: Arguments of the layer, as JSON can hold them.
        kernels: How kernels and biases start: `"glorot"` with biases of 0, `"siren"`,
            or `"torch"`, the default of PyTorch.
        omega: Factor of what the activation takes, which `"siren"` kernels need; 0
            for none.
        first: Further arguments of the layer after the first kernel.
        seeded: Whether the layer takes a `seed`, another one in each layer and network.
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
        """Return a fresh layer.

        Args:
            **arguments: Further arguments, or others than those of the arm.
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
        """Return the arm in a network that starts as SIREN, under another name."""
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
"""The fixed functions of every task."""

VAFS = tuple(_vaf(*pair) for pair in _NAMES.items())
"""A VAF that starts at each of the fixed functions: equally many candidates."""

PRELU = Arm("prelu", "PReLU", "rival", "PReLU")
RATIONAL = Arm("rational", "Rational", "rival", "Rational", {"initialization": "silu"})
KAF = Arm("kaf", "KAF", "rival", "KAF")

EVERYWHERE = (*FIXED, *VAFS, PRELU, RATIONAL, KAF)
"""The arms of every task whose network has activations of any slope."""
