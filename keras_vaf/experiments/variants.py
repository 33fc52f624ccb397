"""`Variant`, an activation under comparison, and the lists of all variants."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import keras

from keras_vaf import layers
from keras_vaf.initializers import RandomStart
from keras_vaf.utils import check_kind, class_of


@dataclass(frozen=True)
class Variant:
    """One activation under comparison: the class of a layer, and its arguments.

    Attributes:
        name: Short name, used in file names and on the command line.
        title: Name in tables and pictures.
        layer: Name of a class in `keras_vaf.layers` or, failing that, in
            `keras.layers`; `""` for a reference without a network.
        arguments: Arguments of the class, as JSON values.
    """

    name: str
    title: str
    layer: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise a `ValueError` if no class has the name of the layer."""
        if self.layer != "":
            class_of("layer", self.layer, layers, keras.layers)

    def build(self, seed: int, name: str | None = None) -> keras.layers.Layer:
        """Return a new layer. `seed` determines a random start.

        Args:
            seed: Seed of a random start, which is equal on all backends.
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
        kind = class_of("layer", self.layer, layers, keras.layers)
        return kind(name=name, **arguments)

    def updated(self, **arguments: Any) -> Variant:
        """Return this variant with new values for the arguments that it has."""
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
"""ReLU, and the VAFs of the paper."""

RESCALED_START = {
    "class_name": "keras_vaf>RandomStart",
    "config": {"seed": None, "rescale": True},
}
"""`RandomStart(rescale=True)` as an argument of a `Variant`."""

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
"""Control activations: smooth fixed activations, PReLU, and VAFs with other starts."""

FAMILY = (
    Variant("elu", "ELU", "ELU"),
    *_of(*_OTHERS),
)
"""The other activations, with the arguments from their papers."""


SEARCHED = Variant("vaf-searched", "VAF, searched", "VAFActivation")
"""A VAF whose arguments a search draws. The protocol of each trial adds them."""


def find_variants(names: str) -> tuple[Variant, ...]:
    """Return the variants named in a comma-separated list, in the order of the list.

    Args:
        names: Names of `VARIANTS`, `CONTROLS` and `FAMILY`, such as
            `"relu,vaf-relu,kaf"`; `vaf` is `vaf-random`.

    Returns:
        The variants. The first one is the baseline.

    Raises:
        ValueError: If a name is unknown or occurs twice.

    Example:

    >>> [variant.title for variant in find_variants("relu,vaf-relu")]
    ['ReLU', 'VAF, ReLU start']
    """
    check_kind("names", names, str)
    known = {variant.name: variant for variant in (*VARIANTS, *CONTROLS, *FAMILY)}
    wanted = [name.strip() for name in names.split(",")]
    wanted = ["vaf-random" if name == "vaf" else name for name in wanted]
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(known):
        raise ValueError(
            "Activations must be different names, separated by commas, from: "
            f"{', '.join(known)}. Received: {names!r}"
        )
    return tuple(known[name] for name in wanted)
