"""Definitions of the measurements: activations, modes, studies and their cases."""

import dataclasses

from keras_vaf.layers import ACTIVATIONS


@dataclasses.dataclass(frozen=True)
class Activation:
    """An activation to measure.

    Args:
        subject: A fixed function, as `"relu"`; `"prelu"`, Keras's, one slope a channel;
            a VAF: `"ours"` (Keras code), `"native"` (native kernels), `"autodiff"`
            (differentiated by the backend), `"at once"` (as if the input were small),
            `"own gradient"` (as if it were large) or `"materialised"` (with an axis for
            the k hidden units); a class of `keras_vaf.layers`; or `"expanded CLASS"`
            (as it is usually written, with an axis for its basis).
        k, g, sharing: As for `keras_vaf.layers.VAFActivation`; only a VAF has them.
    """

    subject: str
    k: int = 0
    g: str = ""
    sharing: str = ""

    @property
    def label(self) -> str:
        names = {"relu": "ReLU", "prelu": "PReLU", "ours": "VAF", "native": "kernels"}
        name = names.get(self.subject, self.subject)
        if not self.k:
            return name
        name = name if self.subject == "ours" else f"VAF, {name}"
        return f"{name}, k={self.k}, {self.g}, {self.sharing}"


@dataclasses.dataclass(frozen=True)
class Mode:
    """A backend, and whether what is measured is compiled as a whole."""

    name: str
    backend: str
    compiled: bool


JAX = Mode("jax", "jax", compiled=True)
TENSORFLOW = Mode("tensorflow", "tensorflow", compiled=False)
TENSORFLOW_XLA = Mode("tensorflow-xla", "tensorflow", compiled=True)
TORCH = Mode("torch", "torch", compiled=False)
TORCH_COMPILE = Mode("torch-compile", "torch", compiled=True)
MODES = (JAX, TENSORFLOW_XLA, TENSORFLOW, TORCH, TORCH_COMPILE)
# The modes of a step in `fit`: PyTorch does not compile it, TensorFlow only on a GPU.
FIT_MODES = (JAX, TENSORFLOW_XLA, TENSORFLOW, TORCH)

# The kernels know nothing of XLA's graphs on TensorFlow.
PLAIN_MODES = (JAX, TENSORFLOW, TORCH)
LARGE, LARGE_QUICK = (32, 32, 32, 192), (2, 8, 8, 16)


@dataclasses.dataclass(frozen=True)
class Study:
    """One kind of work, done by several activations on inputs of one shape."""

    name: str
    activations: tuple[Activation, ...]
    repetitions: int
    modes: tuple[Mode, ...] = PLAIN_MODES
    shape: tuple[int, ...] = LARGE
    quick_shape: tuple[int, ...] = LARGE_QUICK
    dtype: str = "float32"
    processes: int = 0
    """Processes for each variant, where only a fresh one tells (compile time). All
    variants share one process otherwise."""
    runs: int = 1
    """Number of times that the study is measured, each in new processes. The layout of
    memory differs between processes, and times with it. All runs count alike."""

    @property
    def reference(self) -> Activation:
        """The case that the others are compared with."""
        return self.activations[0]


@dataclasses.dataclass(frozen=True)
class Case:
    """One variant of a study."""

    study: str
    mode: str
    activation: Activation
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.study}/{self.mode}/{self.activation.label}"


def vaf(
    k: int = 3, g: str = "relu", sharing: str = "layer", subject: str = "ours"
) -> Activation:
    return Activation(subject, k, g, sharing)


def pair(*of: Activation) -> tuple[Activation, ...]:
    """The same VAFs without and with native kernels."""
    native = (dataclasses.replace(activation, subject="native") for activation in of)
    return *of, *native


RELU, TANH, PRELU = Activation("relu"), Activation("tanh"), Activation("prelu")
SILU, SIN = Activation("silu"), Activation("sin")

OPERATION = Study(
    "operation",
    activations=(RELU, PRELU, *pair(*(vaf(k) for k in (1, 3, 5, 15)))),
    modes=MODES,
    repetitions=5,
    runs=3,
)
SMOOTH = Study(
    "smooth",
    activations=(
        *(RELU, TANH, SILU, SIN),
        *pair(vaf(g="tanh"), vaf(15, "tanh"), vaf(g="silu"), vaf(g="sin")),
    ),
    repetitions=5,
    runs=3,
)
SHARING = Study(
    "sharing",
    activations=(RELU, *pair(*(vaf(sharing=way) for way in ("channel", "neuron")))),
    repetitions=9,
)
FORMS = Study(
    "forms",
    activations=(
        *(RELU, vaf()),
        *(vaf(k, subject="autodiff") for k in (3, 15)),
        *(vaf(k, subject="materialised") for k in (3, 15)),
    ),
    repetitions=3,
)
CHAIN = Study(
    "chain",
    activations=(RELU, *pair(vaf())),
    repetitions=9,
)
SIZES = Study(  # the shape holds numbers of elements here; 2048 are 32 x 64
    "sizes",
    activations=(
        *(RELU, TANH, *pair(vaf(), vaf(g="tanh"))),
        *(vaf(g=g, subject="autodiff") for g in ("relu", "tanh")),
        *(vaf(g=g, subject="own gradient") for g in ("relu", "tanh")),
    ),
    shape=(1024, 2048, 10_240, 102_400, 409_600),
    quick_shape=(1024,),
    repetitions=5,
    runs=3,
)
LIMITS = Study(  # numbers of elements below and above those of `ops.backends.choice`
    "limits",
    activations=(
        RELU,
        *(
            vaf(g=g, subject=subject)
            for subject in ("at once", "autodiff", "own gradient")
            for g in ("relu", "tanh")
        ),
    ),
    shape=(4096, 8192, 16_384, 65_536, 131_072, 262_144),
    quick_shape=(1024,),
    repetitions=9,
)
SECOND = Study(
    "second",
    activations=(TANH, *pair(vaf(g="tanh"))),
    shape=(1600, 64),
    quick_shape=(16, 64),
    repetitions=9,
)
CNET_B = Study(
    "cnet_B",
    activations=(RELU, *pair(vaf())),
    modes=FIT_MODES,
    shape=(128, 32, 32, 3),
    quick_shape=(2, 8, 8, 3),
    repetitions=3,
    runs=3,
)
PREDICT = Study(
    "predict",
    activations=(RELU, vaf(), vaf(15)),
    shape=(128, 32, 32, 3),
    quick_shape=(2, 8, 8, 3),
    repetitions=3,
    runs=3,
)
SMALL = Study(
    "small",
    activations=(RELU, *pair(vaf())),
    modes=FIT_MODES,
    shape=(32, 64),
    quick_shape=(32, 64),
    repetitions=5,
    runs=3,
)
STEPS = Study(  # the shape holds batches here; 32 are 2,048 elements in each layer
    "steps",
    activations=(*(RELU, TANH), *LIMITS.activations[1:]),
    modes=(JAX,),
    shape=(16, 32, 128, 512, 1024),
    quick_shape=(16,),
    repetitions=7,
)
PINN = Study(
    "pinn",
    activations=(TANH, *pair(vaf(g="tanh"))),
    shape=(256, 1),
    quick_shape=(16, 1),
    repetitions=5,
    runs=3,
)
COMPILE = Study(
    "compile",
    activations=(RELU, *pair(vaf())),
    modes=(JAX, TENSORFLOW_XLA, TENSORFLOW),
    shape=(2, 32, 32, 3),
    quick_shape=(2, 8, 8, 3),
    repetitions=1,
    processes=2,
)
ACCURACY = Study(
    "accuracy",
    activations=pair(vaf(), vaf(g="tanh")),
    modes=MODES,
    shape=(10**6,),
    quick_shape=(10**4,),
    repetitions=1,
)
ACCURACY_LARGE = dataclasses.replace(ACCURACY, name="accuracy_large", shape=(10**8,))
FAMILY = Study(
    "family",
    activations=(
        RELU,
        vaf(),
        *(
            Activation(f"{prefix}{member.layer.__name__}")
            for member in ACTIVATIONS[1:]
            if member.name
            for prefix in ("", "expanded ")[: 1 + member.expanded]
        ),
    ),
    modes=FIT_MODES,
    shape=(32, 32, 32, 64),
    quick_shape=(2, 8, 8, 16),
    repetitions=3,
)
STUDIES = (
    *(OPERATION, SMOOTH, SHARING, CHAIN, SIZES, LIMITS, SECOND, CNET_B, SMALL, STEPS),
    *(PINN, PREDICT, COMPILE, FORMS, FAMILY, ACCURACY, ACCURACY_LARGE),
)

GPU = tuple(
    Study(
        f"GPU, {dtype}",
        activations=(RELU, PRELU, TANH, vaf(), vaf(15), vaf(g="tanh")),
        modes=MODES,
        shape=(128, 32, 32, 192),
        repetitions=15,
        dtype=dtype,
    )
    for dtype in ("float32", "bfloat16")
)
GPU_STUDIES = (*GPU, CNET_B, SMALL, PINN, PREDICT)


def cases(study: Study, mode: Mode, quick: bool) -> list[Case]:
    """The variants of a study that are measured side by side in a mode."""
    shape = study.quick_shape if quick else study.shape
    return [
        Case(study.name, mode.name, activation, shape)
        for activation in study.activations
        for _ in range(study.processes or 1)
    ]


def mode_named(name: str) -> Mode:
    return next(mode for mode in MODES if mode.name == name)


def study_named(name: str) -> Study:
    return next(study for study in (*STUDIES, *GPU) if study.name == name)
