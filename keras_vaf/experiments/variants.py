"""`Variant`, an activation under comparison; `VARIANTS`, `CONTROLS`, `FAMILY`: all."""

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
        start = arguments.get("initialization")
        if start == "random":
            arguments["initialization"] = RandomStart(seed=seed)
        elif isinstance(start, dict) and "seed" in start["config"]:
            config = {**start["config"], "seed": seed}
            arguments["initialization"] = {**start, "config": config}
        elif "seed" in arguments:
            arguments["seed"] = seed
        scope = layers if hasattr(layers, self.layer) else keras.layers
        return getattr(scope, self.layer)(name=name, **arguments)

    def updated(self, **arguments: Any) -> Variant:
        """Return this variant with other values for those arguments that it has."""
        known = {name: arguments[name] for name in arguments if name in self.arguments}
        return dataclasses.replace(self, arguments={**self.arguments, **known})


def _of(*members: layers.Member) -> tuple[Variant, ...]:
    return tuple(
        Variant(name, title, member.layer.__name__, arguments)
        for member in members
        for name, title, arguments in member.rows
    )


_VAF, *_OTHERS = layers.ACTIVATIONS

VARIANTS = (Variant("relu", "ReLU", "ReLU"), *_of(_VAF))
"""The activations that are compared by default."""

RESCALED_START = {
    "class_name": "keras_vaf>RandomStart",
    "config": {"seed": None, "rescale": True},
}
"""`RandomStart(rescale=True)` as a `Variant` holds it."""

CONTROLS = (
    Variant("prelu", "PReLU", "PReLU"),
    Variant("gelu", "GELU", "Activation", {"activation": "gelu"}),
    Variant("silu", "SiLU", "Activation", {"activation": "silu"}),
    Variant("tanh", "tanh", "Activation", {"activation": "tanh"}),
    Variant(
        "vaf-silu",
        "VAF, g = silu, SiLU start",
        "VAFActivation",
        {"k": 3, "g": "silu", "initialization": "silu"},
    ),
    Variant(
        "vaf-random-rescaled",
        "VAF, rescaled random start",
        "VAFActivation",
        {"k": 3, "g": "relu", "initialization": RESCALED_START},
    ),
)
"""Activations that show why a VAF is better: fixed smooth ones, PReLU, other starts."""

FAMILY = (
    Variant("elu", "ELU", "ELU"),
    *_of(*_OTHERS),
)
"""The other activations, each with the arguments of its own paper."""


def find_variants(names: str) -> tuple[Variant, ...]:
    """Return the variants that a comma-separated list names, in its order.

    Args:
        names: Names of `VARIANTS`, `CONTROLS` and `FAMILY`, such as
            `"relu,vaf-relu,kaf"`; `vaf` is `vaf-random`.

    Returns:
        The variants, the first of which the others are compared with.

    Raises:
        ValueError: If a name is unknown or comes twice.

    Example:

    >>> [variant.title for variant in find_variants("relu,vaf-relu")]
    ['ReLU', 'VAF, ReLU start']
    """
    known = {variant.name: variant for variant in (*VARIANTS, *CONTROLS, *FAMILY)}
    wanted = [name.strip() for name in names.split(",")]
    wanted = ["vaf-random" if name == "vaf" else name for name in wanted]
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(known):
        raise ValueError(
            "Activations should be different names, separated by commas, from: "
            f"{', '.join(known)}. Received: {names!r}"
        )
    return tuple(known[name] for name in wanted)
