"""Activations, groups of them, and backends, as data."""

from typing import NamedTuple

from keras_vaf.layers import ACTIVATIONS


class Activation(NamedTuple):
    """An activation to measure.

    The name is a fixed function, as `"relu"`; `"PReLU"`, that of Keras with one slope a
    channel; `"VAF"`; or another class of `keras_vaf.layers`. Only a VAF has the others.
    """

    name: str
    g: str = ""
    k: int = 0
    sharing: str = ""


class Group(NamedTuple):
    """Activations in one place, which are measured in turn in one process.

    The place is a key of `ARRAYS`, or of `benchmarks.speed.models.NETWORKS`. The others
    are compared with the first activation, the fixed function.
    """

    case: str
    activations: tuple[Activation, ...]

    @property
    def name(self) -> str:
        """The place and the fixed function."""
        return f"{self.case}, {self.activations[0].name}"


class Setting(NamedTuple):
    """A backend, with or without native kernels; TensorFlow may compile with XLA."""

    name: str
    backend: str
    kernels: bool
    compiled: bool = False


SMALL, LARGE, MEDIUM = "32 x 64", "32 x 32 x 32 x 192", "32 x 32 x 32 x 64"
ARRAYS = {name: tuple(map(int, name.split(" x "))) for name in (SMALL, LARGE, MEDIUM)}
SETTINGS = (
    *(
        Setting(backend, backend, kernels)
        for backend in ("jax", "tensorflow", "torch")
        for kernels in (True, False)
    ),
    Setting("tensorflow, jit_compile=True", "tensorflow", kernels=False, compiled=True),
)


def vaf(g: str, k: int = 3, sharing: str = "layer") -> Activation:
    return Activation("VAF", g, k, sharing)


def _layer(array: str, g: str) -> Group:
    """The layer alone. What only relu shows once is measured with it."""
    others = [vaf(g, k) for k in (3, 9, 15)]
    if g == "relu":
        others.append(Activation("PReLU"))
    if (array, g) == (LARGE, "relu"):
        others += [vaf(g, sharing=sharing) for sharing in ("channel", "neuron")]
    return Group(array, (Activation(g), *others))


def _model(network: str, g: str, other: str = "PReLU") -> Group:
    return Group(network, (Activation(g), Activation(other), vaf(g)))


MODELS = (
    _model("MLP", "relu"),
    _model("ResNet", "relu"),
    _model("MobileNetV2", "relu6"),
    _model("transformer", "gelu"),
    _model("LSTM", "tanh", other="relu"),  # its fused program knows tanh only
)
LAYERS = tuple(
    _layer(array, g)
    for array in (SMALL, LARGE)
    for g in ("relu", "silu", "gelu", "tanh")
)
COMPARED = [each.layer.__name__ for each in ACTIVATIONS[1:] if each.name]
FAMILY = Group(
    MEDIUM,
    (
        *(Activation("relu"), Activation("PReLU"), vaf("relu")),
        *map(Activation, COMPARED),
    ),
)


def groups(setting: Setting, quick: bool) -> tuple[Group, ...]:
    """The groups of a setting: other activations have no kernels, models no XLA."""
    if quick:
        return LAYERS[0], MODELS[0]
    if setting.compiled:
        return LAYERS
    return (*LAYERS, *MODELS, *(() if setting.kernels else (FAMILY,)))
