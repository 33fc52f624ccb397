"""No pair of inputs is steeper than a certificate: a search over all layers."""

import keras
import numpy as np
import pytest

from keras_vaf.constraints import SlopeBound
from keras_vaf.layers import VAFActivation
from keras_vaf.models import lipschitz_certificate
from keras_vaf.models.certificates.constants import KINDS
from keras_vaf.models.certificates.merges import MERGES
from tests.models.steepest import matrix_norm, steepest_slope

layers = keras.layers
FIRST = "channels_first"


@pytest.fixture
def tolerance():
    """Compute in float64 on TensorFlow; elsewhere Keras multiplies in float32."""
    if keras.backend.backend() != "tensorflow":
        yield 1e-4
        return
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    yield 1e-8
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")


def shaken(layer, shape):
    """Return a model of a layer with random weights, also those that start as 0."""
    model = keras.Sequential([keras.Input(shape), layer])
    model(np.zeros((1, *shape)))  # builds an activation inside the layer
    generator = np.random.default_rng(1)
    weights = [generator.normal(size=w.shape) for w in layer.get_weights()]
    if isinstance(layer, layers.BatchNormalization):
        weights[-1] = generator.uniform(0.1, 2, weights[-1].shape)
    layer.set_weights(weights)
    return model


SHAPES = {1: (7, 2), 2: (7, 6, 2), 3: (4, 5, 3, 2)}

EXACT = {
    "dense": (lambda: layers.Dense(4), (5,)),
    "dense of steps": (lambda: layers.Dense(3), (4, 5)),
    "lora": (lambda: layers.Dense(4, lora_rank=2), (5,)),
    "permute": (lambda: layers.Permute((2, 1)), (3, 4)),
    "reshape": (lambda: layers.Reshape((-1, 2)), (3, 4)),
    "flatten": (lambda: layers.Flatten(FIRST), (3, 4)),
    "identity": (lambda: layers.Identity(), (3,)),
    "dropout": (lambda: layers.Dropout(0.9), (3,)),
    "alpha dropout": (lambda: layers.AlphaDropout(0.9), (3,)),
    "gaussian dropout": (lambda: layers.GaussianDropout(0.9), (3,)),
    "gaussian noise": (lambda: layers.GaussianNoise(0.9), (3,)),
    "activity": (lambda: layers.ActivityRegularization(1.0), (3,)),
    "normalization": (lambda: layers.BatchNormalization(), (5,)),
    "normalized axis": (lambda: layers.BatchNormalization(axis=1), (3, 4)),
    "unscaled": (lambda: layers.BatchNormalization(scale=False, epsilon=0.1), (5,)),
    "rescaling": (lambda: layers.Rescaling(-3.0, offset=2.0), (5,)),
    "rescaled channels": (lambda: layers.Rescaling([1.0, -4.0], [0.0, 1.0]), (3, 2)),
    "global average, first": (lambda: layers.GlobalAveragePooling2D(FIRST), (2, 3, 4)),
}
for n, shape in SHAPES.items():
    for name, arguments in (
        (f"SpatialDropout{n}D", (0.9,)),
        (f"ZeroPadding{n}D", (2,)),
        (f"Cropping{n}D", (1,)),
        (f"AveragePooling{n}D", (2,)),
    ):
        make = getattr(layers, name)
        EXACT[f"{name}{arguments}"] = (lambda f=make, a=arguments: f(*a), shape)
for n in (2, 3):
    make = getattr(layers, f"GlobalAveragePooling{n}D")
    EXACT[f"global average {n}"] = (make, SHAPES[n])
"""Linear layers whose certificate must be near the norm of their matrix."""

LOOSE = {
    "global average 1": (lambda: layers.GlobalAveragePooling1D(), (7, 2)),
    "global average 1, first": (lambda: layers.GlobalAveragePooling1D(FIRST), (2, 7)),
    "relu": (lambda: layers.ReLU(), (4,)),
    "bounded relu": (lambda: layers.ReLU(1.0, negative_slope=2.0), (4,)),
    "leaky relu": (lambda: layers.LeakyReLU(negative_slope=3.0), (4,)),
    "prelu": (lambda: layers.PReLU(), (4,)),
    "shared prelu": (lambda: layers.PReLU(shared_axes=[1]), (3, 4)),
    "softmax": (lambda: layers.Softmax(), (4,)),
    "softmax, axes": (lambda: layers.Softmax(axis=(1, 2)), (2, 3, 2)),
    "softmax, first axis": (lambda: layers.Softmax(axis=1), (3, 2)),
    "vaf": (lambda: VAFActivation(4, "relu"), (4,)),
    "vaf of channels": (lambda: VAFActivation(3, "tanh", sharing="channel"), (3, 4)),
    "vaf, bounded": (lambda: VAFActivation(function_constraint=SlopeBound(0.5)), (4,)),
    "dense, vaf": (lambda: layers.Dense(3, activation=VAFActivation(g="silu")), (4,)),
    "dense, prelu": (lambda: layers.Dense(3, activation=layers.PReLU()), (4,)),
    "dense, softmax": (lambda: layers.Dense(3, activation="softmax"), (4,)),
}
for n, shape in SHAPES.items():
    convolution = getattr(layers, f"Conv{n}D")
    transposed = getattr(layers, f"Conv{n}DTranspose")
    cases = {
        "valid": (convolution, {}),
        "same, strides": (convolution, {"padding": "same", "strides": 2}),
        "dilation": (convolution, {"padding": "same", "dilation_rate": 2}),
        "groups": (convolution, {"groups": 2, "activation": "tanh"}),
        "valid transposed": (transposed, {"strides": 2}),
        "same transposed": (transposed, {"padding": "same", "strides": 2}),
    }
    for name, (make, options) in cases.items():
        LOOSE[f"{name}, {n} axes"] = (
            lambda f=make, o=options: f(4, 2 if f.__name__[4] == "3" else 3, **o),
            shape,
        )
    for kind in ("Max", "Average"):
        make = getattr(layers, f"{kind}Pooling{n}D")
        for size, strides, padding in (
            *((3, 1, "valid"), (2, None, "valid"), (3, 2, "valid"), (2, 3, "valid")),
            *((3, 1, "same"), (2, 1, "same"), (3, 2, "same"), (4, 3, "same")),
        ):
            LOOSE[f"{kind}{n} {size} {strides} {padding}"] = (
                lambda f=make, a=(size, strides, padding): f(*a),
                shape,
            )
    make = getattr(layers, f"GlobalMaxPooling{n}D")
    LOOSE[f"global maximum {n}"] = (make, shape)
LOOSE |= {
    "causal": (lambda: layers.Conv1D(3, 3, padding="causal"), (7, 2)),
    "depthwise 1": (lambda: layers.DepthwiseConv1D(3, depth_multiplier=2), (7, 2)),
    "depthwise 2": (
        lambda: layers.DepthwiseConv2D(3, strides=2, padding="same", activation="elu"),
        (7, 6, 2),
    ),
}


def part(cases):
    """Return all cases on PyTorch, and some elsewhere, where a search is slow.

    TensorFlow has no pooling of 3 axes in float64, and compiles groups in each call.
    """
    if keras.backend.backend() == "torch":
        return cases
    return [case for case in cases if "3" not in str(case) and "gr" not in str(case)][
        ::5
    ]


def check(model, tolerance, at_most=None):
    """Check that a search finds no steeper pair, and perhaps how near it comes."""
    bound = lipschitz_certificate(model).bound
    slope = steepest_slope(model)
    assert 0 < slope <= bound * (1 + tolerance)
    if at_most is not None:
        assert bound <= at_most * slope
    return bound


# Keras 3.12 warns of transposed convolutions on PyTorch.
@pytest.mark.filterwarnings("ignore:You might experience inconsistencies")
@pytest.mark.parametrize("name", part([*EXACT, *LOOSE]))
def test_no_pair_of_a_layer_is_steeper(name, tolerance):
    make, shape = {**EXACT, **LOOSE}[name]
    model = shaken(make(), shape)
    bound = check(model, tolerance)
    if name in EXACT:
        assert bound <= (1 + tolerance) * matrix_norm(model)


NAMES = [
    *("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu"),
    *("linear", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("soft_shrink", "softplus", "softsign", "sparse_plus", "sparse_sigmoid"),
    *("squareplus", "tanh", "tanh_shrink", "softmax"),
]


@pytest.mark.parametrize("name", part(NAMES))
def test_no_pair_of_an_activation_is_steeper(name, tolerance):
    size = 4 if name == "softmax" else 1
    model = keras.Sequential([keras.Input((size,)), layers.Activation(name)])
    # Only far from 0 is a smooth ReLU as steep as its bound.
    check(model, tolerance, at_most=1.3)


@pytest.mark.backend("torch")
def test_the_law_covers_every_layer_and_activation_with_a_bound():
    made = {type(make()) for make, _ in (*EXACT.values(), *LOOSE.values())}
    assert made == {*KINDS} - {layers.InputLayer, layers.Activation}
    for name in sorted(vars(keras.activations)):
        if callable(function := getattr(keras.activations, name)):
            try:
                layer = layers.Activation(function)
                lipschitz_certificate(keras.Sequential([keras.Input((4,)), layer]))
            except (ValueError, TypeError):
                continue
            assert function.__name__ in NAMES


@pytest.mark.backend("torch")
@pytest.mark.parametrize("kind", MERGES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "shapes",
    [
        *([(4, 1, 2), (1, 3, 1)], [(1,), (9,)], [(9,), (1,)], [(2, 1), (1, 3)]),
        *([(1, 1, 2), (3, 4, 2)], [(1,), (1,)], [(3,), (3,)]),
    ],
    ids=str,
)
def test_no_pair_of_a_merge_is_steeper(kind, shapes, tolerance):
    if kind is layers.Concatenate:
        shapes = [shapes[1], shapes[1]]
    if kind is not layers.Subtract:
        shapes = [*shapes, shapes[0]]
    inputs = [keras.Input(shape) for shape in shapes]
    check(keras.Model(inputs, kind()(inputs)), tolerance)


@pytest.mark.parametrize("kind", MERGES, ids=lambda kind: kind.__name__)
def test_no_pair_of_a_merge_of_one_input_is_steeper(kind, tolerance):
    inputs = keras.Input((1,))
    wide = layers.Dense(50, kernel_initializer="zeros")(inputs)
    check(keras.Model(inputs, kind()([inputs, wide])), tolerance)
    twice = layers.Rescaling(2.0)(inputs)
    check(keras.Model(inputs, kind()([inputs, twice])), tolerance)


@pytest.mark.parametrize("kind", [layers.Add, layers.Average, layers.Maximum])
def test_a_tensor_that_is_broadcast_counts_once_per_copy(kind):
    inputs = keras.Input((1,))
    wide = layers.Dense(50, kernel_initializer="zeros")(inputs)
    bound = lipschitz_certificate(keras.Model(inputs, kind()([inputs, wide]))).bound
    expected = 50**0.5 / (2 if kind is layers.Average else 1)
    assert np.isclose(bound, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [layers.Maximum, layers.Minimum])
def test_an_extreme_of_operands_of_one_input_takes_elements_of_both(kind):
    inputs = keras.Input((1,))
    operands = layers.Dense(2), layers.Dense(2)
    model = keras.Model(inputs, kind()([operand(inputs) for operand in operands]))
    away = -9.0 if kind is layers.Maximum else 9.0
    for place, operand in enumerate(operands):
        kernel, bias = np.zeros((1, 2)), np.full(2, away)
        kernel[0, place], bias[place] = 1, 0
        operand.set_weights([kernel, bias])
    assert steepest_slope(model) > 1.4
    assert np.isclose(lipschitz_certificate(model).bound, 2**0.5, rtol=1e-6)


def random_graph(seed):
    """Return a model of random layers, merges, shared layers and nested models."""
    generator = np.random.default_rng(seed)
    inputs = [keras.Input((generator.choice([1, 3]),)) for _ in range(seed % 3 + 1)]
    inner = keras.Input((3,))
    nested = keras.Model(inner, layers.Add()([layers.Dense(3)(inner), inner]))
    shared = layers.Dense(3, activation="tanh")
    made = list(inputs)
    for _ in range(7):
        first, second = (made[generator.integers(len(made))] for _ in range(2))
        wide = [each for each in made if each.shape[-1] == 3]
        choice = generator.integers(5)
        if choice == 0 or not wide:
            made.append(layers.Dense(int(generator.choice([1, 3])))(first))
        elif choice == 1:
            made.append((nested, shared)[seed % 2](wide[-1]))
        elif choice == 2:
            made.append(VAFActivation(k=2, initialization="random")(first))
        elif choice == 3 and first.shape[-1] == second.shape[-1] == 1:
            made.append(layers.Dense(3)(layers.Concatenate()([first, second])))
        else:
            kind = MERGES[generator.integers(len(MERGES) - 1)]
            made.append(kind()([first, second]))
    # Keras 3.12 refuses a model with an input that no output uses.
    ends = [layers.Rescaling(0.0)(each) for each in inputs]
    return keras.Model(inputs, [*made[-2:], *ends])


@pytest.mark.parametrize("seed", part(range(12)))
def test_no_pair_of_a_random_graph_is_steeper(seed, tolerance):
    keras.utils.set_random_seed(seed)
    check(random_graph(seed), tolerance)


class _Halved(layers.Add):
    def call(self, inputs):
        return 2 * super().call(inputs)


@keras.saving.register_keras_serializable("test")
class _Doubled(keras.Model):
    def call(self, inputs, training=None, mask=None):
        return 2 * super().call(inputs, training=training, mask=mask)


def broken():
    """Return models of which a plain product of bounds would not be a bound."""
    x, flat = keras.Input((None, 3)), keras.Input((4,))
    column = keras.Input((1,))
    cut = layers.Conv1D(3, 1, strides=2)(x)
    infinite = keras.Sequential([keras.Input((2,)), layers.Dense(2)])
    infinite.layers[0].bias.assign([1.0, np.inf])
    inner = keras.Sequential([keras.Input((4,)), layers.Dropout(0.9)])
    return {
        "sizes that are unknown": keras.Model(x, layers.Add()([x, cut])),
        "other ranks": keras.Model(
            [flat, k := keras.Input((3, 4))], layers.Add()([flat, k])
        ),
        "samples joined": keras.Model(flat, layers.Concatenate(axis=0)([flat, flat])),
        "dropout in training": keras.Model(
            flat, layers.Dropout(0.9)(flat, training=True)
        ),
        "statistics of the batch": keras.Model(
            flat, layers.BatchNormalization()(flat, training=True)
        ),
        "a nested model in training": keras.Model(flat, inner(flat, training=True)),
        "a scale that broadcasts": keras.Model(
            column, layers.Rescaling([1.0, 2.0])(column)
        ),
        "an offset that broadcasts": keras.Model(
            column, layers.Rescaling(1.0, [0.0, 2.0])(column)
        ),
        "a merge of one's own": keras.Model(flat, _Halved()([flat, flat])),
        "a call of one's own": _Doubled(flat, layers.ReLU()(flat)),
        "an infinite weight": infinite,
        "a product": keras.Model(flat, layers.Multiply()([flat, flat])),
        "a scalar product": keras.Model(flat, layers.Dot(1)([flat, flat])),
        "repeated": keras.Model(flat, layers.RepeatVector(3)(flat)),
        "repeated in place": keras.Model(k, layers.UpSampling1D(2)(k)),
    }


@pytest.mark.backend("torch")
@pytest.mark.parametrize("name", broken())
def test_a_model_without_a_bound_is_refused(name):
    with pytest.raises(ValueError, match="has no known bound"):
        lipschitz_certificate(broken()[name])


@pytest.mark.backend("torch")
def test_a_certificate_counts_weights_as_they_are_rounded():
    layer = layers.Dense(1, dtype="mixed_bfloat16")
    model = keras.Sequential([keras.Input((1,)), layer])
    layer.kernel.assign([[1.006]])
    assert lipschitz_certificate(model).bound >= 1.0078125
