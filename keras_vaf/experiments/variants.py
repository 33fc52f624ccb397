"""The activations that an experiment compares, as data."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import keras

from keras_vaf import layers
from keras_vaf.initializers import RandomStart


@dataclass(frozen=True)
class Variant:
    """One activation under comparison: a layer's class and its arguments.

    Attributes:
        name: Short name, used in file names and on the command line.
        title: Name in tables and pictures.
        layer: Class of the layer, in `keras_vaf.layers` or else in `keras.layers`.
        arguments: Its constructor's arguments, as JSON can hold them.
    """

    name: str
    title: str
    layer: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def build(self, seed: int, name: str | None = None) -> keras.layers.Layer:
        """Return a fresh layer, with a random start that `seed` decides.

        Args:
            seed: Seed of a random start, which is then the same on every backend.
            name: Name of the layer.

        Returns:
            The layer.
        """
        arguments = dict(self.arguments)
        if arguments.get("initialization") == "random":
            arguments["initialization"] = RandomStart(seed=seed)
        elif "seed" in arguments:
            arguments["seed"] = seed
        scope = layers if hasattr(layers, self.layer) else keras.layers
        return getattr(scope, self.layer)(name=name, **arguments)

    def updated(self, **arguments: Any) -> Variant:
        """Return this variant with other values for those arguments that it has."""
        known = {name: arguments[name] for name in arguments if name in self.arguments}
        return dataclasses.replace(self, arguments={**self.arguments, **known})


VARIANTS = (
    Variant("relu", "ReLU", "ReLU"),
    Variant(
        "vaf-random",
        "VAF, random start",
        "VAFActivation",
        {"k": 3, "g": "relu", "initialization": "random"},
    ),
    Variant(
        "vaf-relu",
        "VAF, ReLU start",
        "VAFActivation",
        {"k": 3, "g": "relu", "initialization": "relu"},
    ),
)
"""What is compared if nothing else is asked for."""

FAMILY = (
    Variant("prelu", "PReLU", "PReLU"),
    Variant("elu", "ELU", "ELU"),
    Variant("swish", "Swish", "Activation", {"activation": "silu"}),
    Variant("kaf", "KAF", "KAF", {"seed": None}),
    Variant("apl", "APL", "APL", {"seed": None}),
    Variant("pelu", "PELU", "PELU"),
    Variant("srelu", "SReLU", "SReLU"),
    Variant("abu", "ABU", "ABU"),
    Variant("ensemble", "Activation ensemble", "ActivationEnsemble"),
    Variant("mixed", "Mixed activation", "MixedActivation"),
    Variant("gated", "Gated activation", "MixedActivation", {"gated": True}),
    Variant("sigmoid", "Adaptive sigmoid", "AdaptiveSigmoid"),
    Variant("tanh", "Adaptive tanh", "AdaptiveTanh"),
    Variant("spline", "Spline", "SplineActivation"),
    Variant("polynomial", "Polynomial", "PolynomialActivation"),
)
"""The other activations, each with the arguments of its own paper."""


def find_variants(names: str) -> tuple[Variant, ...]:
    """Return the variants that a comma-separated list names, in its order.

    Args:
        names: Names of `VARIANTS` and `FAMILY`, such as `"relu,vaf-relu,kaf"`; `vaf`
            is `vaf-random`.

    Returns:
        The variants, the first of which the others are compared with.

    Raises:
        ValueError: If a name is unknown or comes twice.

    Example:

    >>> [variant.title for variant in find_variants("relu,vaf-relu")]
    ['ReLU', 'VAF, ReLU start']
    """
    known = {variant.name: variant for variant in (*VARIANTS, *FAMILY)}
    wanted = [name.strip() for name in names.split(",")]
    wanted = ["vaf-random" if name == "vaf" else name for name in wanted]
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(known):
        raise ValueError(
            "Activations should be different names, separated by commas, from: "
            f"{', '.join(known)}. Received: {names!r}"
        )
    return tuple(known[name] for name in wanted)
