"""`Arm`, one activation of a comparison, and `find_arms`."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, replace
from typing import Any

import keras

from keras_vaf import layers
from keras_vaf.initializers import RandomStart, get
from keras_vaf.utils import check_choice, check_json, check_kind, class_of


@dataclass(frozen=True)
class Arm:
    """One activation under comparison: the class of a layer, and its arguments.

    Attributes:
        name: Short name, used in records and on the command line.
        title: Name in tables and pictures.
        layer: Name of a class in `keras_vaf.layers` or, failing that, in
            `keras.layers`; `""` for a model without activations, or as it is.
        arguments: Arguments of the class, as JSON values.

    Raises:
        ValueError: If no class has this name.

    Example:

    >>> arm = Arm("vaf-9", "VAF, k = 9", "VAFActivation", {"k": 9})
    >>> arm.build(seed=0).k
    9
    """

    name: str
    title: str
    layer: str
    arguments: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Raise a `ValueError` for values that records cannot hold, or no class."""
        check_kind("name", self.name, str)
        check_kind("title", self.title, str)
        check_json("arguments", self.arguments)
        if self.layer != "":
            class_of("layer", self.layer, layers, keras.layers)

    @property
    def key(self) -> tuple[str, str]:
        """The name and the arguments, as in records.

        The name of a VAF with a fitted start tells the fit: records that were made with
        another fit are not those of this arm.
        """
        arguments = json.dumps(self.arguments)
        fitted = self.layer == "VAFActivation" and _is_fitted(arguments)
        return self.name + _FIT * fitted, arguments

    @property
    def reference(self) -> bool:
        """True for a model of scikit-learn."""
        return self.name in REFERENCES

    @property
    def drawn(self) -> bool:
        """True if its layer is a trainable activation, whose function is drawn."""
        kind = getattr(layers, self.layer, object)
        return issubclass(kind, layers.TrainableActivation)

    def build(self, seed: int, name: str | None = None) -> keras.layers.Layer:
        """Return a new layer, whose random start has the seed on all backends."""
        arguments = dict(self.arguments)
        match arguments:
            case {"initialization": "random"}:
                arguments["initialization"] = RandomStart(seed=seed)
            case {"initialization": {"config": {"seed": _} as config, **start}}:
                start["config"] = {**config, "seed": seed}
                arguments["initialization"] = start
            case {"seed": _}:
                arguments["seed"] = seed
        kind = class_of("layer", self.layer, layers, keras.layers)
        return kind(name=name, **arguments)

    def updated(self, **arguments: Any) -> Arm:
        """Return this arm with new values for the arguments that it has."""
        known = {name: arguments[name] for name in arguments if name in self.arguments}
        title = self.title
        for name, value in known.items():
            old = f"{name} = {self.arguments[name]}"
            title = title.replace(old, f"{name} = {value}")
        return replace(self, title=title, arguments=self.arguments | known)


REFERENCES = ("linear", "trees")
"""Names of the models of scikit-learn."""

_FIT = ", least squares"


@functools.lru_cache(maxsize=1024)
def _is_fitted(arguments: str) -> bool:
    """Return whether a VAF with these arguments starts at a fitted function."""
    layer = layers.VAFActivation(**json.loads(arguments))
    start = get(layer.initialization).known(layer.g)
    return start is not None and start.fitted(layer.g)


RESCALED = {
    "class_name": "keras_vaf>RandomStart",
    "config": {"seed": None, "rescale": True},
}
"""`RandomStart(rescale=True)` as an argument of an `Arm`."""

_SILU = {"k": 3, "g": "silu", "initialization": "silu"}
_RANDOM = {"k": 3, "g": "relu", "initialization": RESCALED}
FIXED = ("relu", "gelu", "silu", "tanh")
"""Names of the fixed functions from which the VAF of a comparison may start."""

AS_IT_IS = Arm("as-it-is", "the model as it is", "")
"""The activations that a model has."""

UNCHANGED = Arm("unchanged", "the model, not trained", "")
"""A trained model as it was given."""

_ARMS = (
    Arm("relu", "ReLU", "ReLU"),
    *(
        Arm(name, title, member.layer.__name__, arguments)
        for member in layers.ACTIVATIONS
        for name, title, arguments in member.rows
    ),
    Arm("prelu", "PReLU", "PReLU"),
    Arm("gelu", "GELU", "Activation", {"activation": "gelu"}),
    Arm("silu", "SiLU", "Activation", {"activation": "silu"}),
    Arm("tanh", "tanh", "Activation", {"activation": "tanh"}),
    Arm("vaf-silu", "VAF, g = silu, SiLU start", "VAFActivation", _SILU),
    Arm("vaf-random-rescaled", "VAF, rescaled random start", "VAFActivation", _RANDOM),
    Arm("elu", "ELU", "ELU"),
    Arm("vaf", "VAF", "VAFActivation", {"k": 3}),
    AS_IT_IS,
    UNCHANGED,
)
ARMS = {arm.name: arm for arm in _ARMS}
"""All arms by name: fixed activations, and all of `keras_vaf.layers`."""


def find_arms(names: str) -> tuple[Arm, ...]:
    """Return the arms named in a comma-separated list, in the order of the list.

    Raises:
        ValueError: If a name is unknown.

    Example:

    >>> [arm.title for arm in keras_vaf.experiments.find_arms("relu,vaf-relu")]
    ['ReLU', 'VAF, ReLU start']
    """
    check_kind("names", names, str)
    wanted = (name.strip() for name in names.split(","))
    return tuple(ARMS[check_choice("activation", name, ARMS)] for name in wanted)


def vaf_from(vaf: Arm, fixed: Arm) -> Arm:
    """Return the arm `vaf` as one that starts at a fixed function.

    >>> vaf_from(ARMS["vaf"], ARMS["silu"]).title
    'VAF from SiLU'
    """
    name = f"vaf-{fixed.name}"  # and the arguments are those of `ARMS["vaf-silu"]`
    arguments = {"k": 3, "g": fixed.name, "initialization": fixed.name}
    title = f"VAF from {fixed.title}"
    return Arm(name, title, vaf.layer, arguments | vaf.arguments)


def references(task: str) -> tuple[Arm, ...]:
    """Return a linear model and boosted trees of scikit-learn, without a layer.

    Own models have none.
    """
    if task not in ("classification", "regression"):
        return ()
    kind = "logistic" if task == "classification" else "ridge"
    linear = Arm("linear", f"{kind} regression", "")
    return linear, Arm("trees", "gradient boosted trees", "")
