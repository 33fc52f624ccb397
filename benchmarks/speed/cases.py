"""Activations, groups of them, and backends, as data."""

import dataclasses

from keras_vaf.layers import ACTIVATIONS


@dataclasses.dataclass(frozen=True)
class Activation:
    """An activation to measure.

    Args:
        name: A fixed function, as `"relu"`; `"PReLU"`, that of Keras with one slope a
            channel; `"VAF"`; or another class of `keras_vaf.layers`.
        g, k, sharing: As for `keras_vaf.layers.VAFActivation`; only a VAF has them.
    """

    name: str
    g: str = ""
    k: int = 0
    sharing: str = ""


@dataclasses.dataclass(frozen=True)
class Group:
    """Activations in one place, which are measured in turn in one process.

    Args:
        case: Key of `ARRAYS`, or of `benchmarks.speed.models.NETWORKS`.
        activations: The others are compared with the first one, the fixed function.
    """

    case: str
    activations: tuple[Activation, ...]

    @property
    def name(self) -> str:
        return f"{self.case}, {self.activations[0].name}"


@dataclasses.dataclass(frozen=True)
class Setting:
    """Backend of a process, and the way it computes.

    Args:
        name: `backend` in the report.
        backend: Backend of Keras.
        kernels: Whether the native kernels are switched on.
        compiled: Whether TensorFlow compiles programs with XLA.
    """

    name: str
    backend: str
    kernels: bool
    compiled: bool = False


SMALL, LARGE, MEDIUM = "32 x 64", "32 x 32 x 32 x 192", "32 x 32 x 32 x 64"
ARRAYS = {name: tuple(map(int, name.split(" x "))) for name in (SMALL, LARGE, MEDIUM)}
XLA = "tensorflow, jit_compile=True"
SETTINGS = (
    *(
        Setting(backend, backend, kernels)
        for backend in ("jax", "tensorflow", "torch")
        for kernels in (True, False)
    ),
    Setting(XLA, "tensorflow", kernels=False, compiled=True),
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
FAMILY = Group(
    MEDIUM,
    (
        *(Activation("relu"), Activation("PReLU"), vaf("relu")),
        *(
            Activation(member.layer.__name__)
            for member in ACTIVATIONS[1:]
            if member.name
        ),
    ),
)


def groups(setting: Setting, quick: bool) -> tuple[Group, ...]:
    """The groups of a setting: other activations have no kernels, models no XLA."""
    if quick:
        return LAYERS[0], MODELS[0]
    if setting.compiled:
        return LAYERS
    return (*LAYERS, *MODELS, *(() if setting.kernels else (FAMILY,)))
