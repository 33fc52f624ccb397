"""A certificate is never below what a model does."""

import keras
import numpy as np
import pytest

from keras_vaf.constraints import Orthogonal, SlopeBound, SpectralNorm
from keras_vaf.layers import VAFActivation
from keras_vaf.models import lipschitz_certificate
from keras_vaf.models.certificates.convolutions import convolution_bound

layers = keras.layers

QUOTIENT = 1 + 1e-9  # rounding of a quotient of differences


@pytest.fixture
def float64():
    """Build, train and call layers in float64, and keep float64 inputs."""
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    yield
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")


def largest_slope_in_float64(model, count=10_000):
    """Return the largest slope over random pairs, near ones and far ones."""
    generator = np.random.default_rng(1)
    x = generator.normal(size=(count, *model.input_shape[1:]))
    step = generator.normal(size=x.shape)
    step *= (10.0 ** generator.uniform(-3, 1, count)).reshape(-1, *[1] * (x.ndim - 1))
    y, z = (model.predict(e, batch_size=2000, verbose=0) for e in (x, x + step))
    assert y.dtype == "float64"
    rise, run = ((a - b).reshape(count, -1) for a, b in ((y, z), (x, x + step)))
    return (np.linalg.norm(rise, axis=1) / np.linalg.norm(run, axis=1)).max()


def largest_slope(model, shape, count=10_000):
    """Return the largest slope over random pairs, near ones and far ones."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(count, *shape)).astype("float32")
    step = generator.normal(size=x.shape)
    step *= (10.0 ** generator.uniform(-2, 1, count)).reshape(-1, *[1] * len(shape))
    other = (x + step).astype("float32")
    y, z = (model.predict(each, batch_size=1000, verbose=0) for each in (x, other))
    rise = np.linalg.norm((y - z).reshape(count, -1).astype("float64"), axis=1)
    distance = np.linalg.norm((x - other.astype("float64")).reshape(count, -1), axis=1)
    return (np.maximum(rise - 1e-6, 0) / distance).max()  # outputs are in float32


def dense_model():
    return [
        keras.Input((5,)),
        layers.Dense(16, kernel_constraint=Orthogonal(), activation="tanh"),
        VAFActivation(k=4, initialization="random", function_constraint=SlopeBound()),
        layers.Dense(8, activation=VAFActivation(g="gelu")),
        layers.PReLU(),
        layers.BatchNormalization(),
        layers.Dropout(0.5),
        layers.Dense(3, activation="softmax"),
    ]


def convolutional_model():
    return [
        keras.Input((8, 8, 3)),
        layers.ZeroPadding2D(1),
        layers.Conv2D(4, 3, strides=2, activation="relu"),
        layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
        VAFActivation(sharing="channel", initialization="random"),
        layers.MaxPooling2D(3, strides=1),
        layers.Conv2D(4, 3, groups=2, padding="same"),
        layers.AveragePooling2D(2, padding="same"),
        layers.Conv2DTranspose(2, 3, strides=2),
        layers.LeakyReLU(),
        layers.Flatten(),
    ]


@pytest.mark.parametrize("make", [dense_model, convolutional_model])
def test_random_pairs_stay_below(make):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(make())
    bound, per_layer = lipschitz_certificate(model)
    assert largest_slope(model, model.input_shape[1:], 2000) <= bound
    assert np.isclose(np.prod(list(per_layer.values())), bound)


def residual(layer):
    """Return a model that adds its input to the output of a layer."""
    inputs = keras.Input((4,))
    hidden = layers.Dense(6, activation="tanh")(inputs)
    return keras.Model(inputs, layers.Add()([inputs, layer(hidden)]))


def normalization():
    """Return a layer with random statistics and factors of both signs."""
    layer = layers.BatchNormalization()
    layer.build((None, 5))
    generator = np.random.default_rng(2)
    gamma, beta, mean = generator.normal(size=(3, 5))
    layer.set_weights([gamma, beta, mean, generator.uniform(0.1, 2, 5)])
    return layer


PARTS = {
    "dense": lambda: [keras.Input((5,)), layers.Dense(7)],
    "strides": lambda: [keras.Input((7, 9, 2)), layers.Conv2D(3, (3, 2), 2)],
    "padding": lambda: [
        keras.Input((6, 5, 2)),
        layers.Conv2D(4, 3, padding="same"),
        layers.Conv2D(2, (2, 3), strides=(1, 2), padding="same"),
    ],
    "dilation": lambda: [keras.Input((8, 8, 1)), layers.Conv2D(2, 3, dilation_rate=2)],
    "normalization": lambda: [keras.Input((5,)), normalization()],
    "vaf": lambda: [
        keras.Input((3,)),
        VAFActivation(5, initialization="random", function_constraint=SlopeBound(0.7)),
    ],
    "smooth vaf": lambda: [keras.Input((3,)), VAFActivation(g="gelu")],
}


@pytest.mark.backend("tensorflow")  # elsewhere Keras multiplies matrices in float32
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", PARTS)
def test_no_pair_is_steeper_in_float64(name):
    model = keras.Sequential(PARTS[name]())
    slope = largest_slope_in_float64(model)
    assert 0.1 * lipschitz_certificate(model).bound < slope
    assert slope <= lipschitz_certificate(model).bound * QUOTIENT


@pytest.mark.backend("tensorflow")
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("name", ["dense", "padding", "vaf"])
def test_a_loaded_model_has_the_same_certificate(name, tmp_path):
    model = keras.Sequential(PARTS[name]())
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert lipschitz_certificate(loaded).bound == lipschitz_certificate(model).bound
    slope = largest_slope_in_float64(loaded)
    assert slope <= lipschitz_certificate(loaded).bound * QUOTIENT


@pytest.mark.backend("tensorflow")
@pytest.mark.usefixtures("float64")
def test_no_pair_of_a_residual_model_is_steeper_in_float64():
    model = residual(layers.Dense(4))
    bound = lipschitz_certificate(model).bound
    assert largest_slope_in_float64(model) <= bound * QUOTIENT


@pytest.mark.backend("tensorflow")
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("averaged", [False, True])
def test_no_pair_is_steeper_after_training_in_float64(frozen, averaged):
    model = keras.Sequential([keras.Input((2,))])
    for _ in range(2):
        model.add(layers.Dense(8, kernel_constraint=Orthogonal()))
        model.add(VAFActivation(k=4, function_constraint=SlopeBound(1.0)))
        model.layers[-1].beta.trainable = not frozen
    optimizer = keras.optimizers.SGD(
        0.5, clipvalue=1.0, use_ema=averaged, ema_momentum=0.5
    )
    model.compile(optimizer, "mse")
    x = np.random.default_rng(1).normal(size=(64, 2))
    model.fit(x, 9 * np.abs(np.tile(x, 4)), epochs=3, verbose=0)
    slope = largest_slope_in_float64(model)
    assert 0.01 < slope <= lipschitz_certificate(model).bound * QUOTIENT
    for layer in model.layers[1::2]:
        alone = keras.Sequential([keras.Input((3,)), layer])
        assert largest_slope_in_float64(alone, 1000) <= QUOTIENT


def test_a_constrained_network_has_a_certificate_of_1_after_training():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((2,))])
    for _ in range(2):
        model.add(layers.Dense(16, kernel_constraint=Orthogonal()))
        model.add(VAFActivation(k=5, function_constraint=SlopeBound(1.0)))
    model.add(layers.Dense(1, kernel_constraint=SpectralNorm()))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    x = np.random.default_rng(1).normal(size=(256, 2)).astype("float32")
    model.fit(x, 5 * np.abs(x[:, :1]), epochs=5, verbose=0)
    bound, _ = lipschitz_certificate(model)
    assert bound <= 1 + 1e-6
    slope = largest_slope(model, (2,))
    assert 0.2 < slope <= bound


def test_a_linear_model_is_exact():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(6)])
    kernel, _ = model.get_weights()
    norm = np.linalg.svd(kernel.astype("float64"), compute_uv=False)[0]
    assert np.isclose(lipschitz_certificate(model).bound, norm, rtol=1e-10)
    assert lipschitz_certificate(model).bound >= norm


@pytest.mark.parametrize("places", [(3,), (3, 3), (5, 2), (1, 1), (2, 2, 2)])
@pytest.mark.parametrize("groups", [1, 2])
def test_the_bound_of_a_convolution_is_proven_and_tight(places, groups):
    generator = np.random.default_rng(3)
    kernel = generator.normal(size=(*places, 2, 4))
    bound = convolution_bound(kernel, groups)
    norm = 0.0  # over frequencies that no grid has
    for frequency in generator.uniform(0, 2 * np.pi, size=(20_000, len(places))):
        phases = np.exp(-1j * np.tensordot(np.indices(places).T, frequency, 1)).T
        symbol = np.tensordot(phases, kernel, len(places))
        parts = np.split(symbol, groups, axis=1)
        norm = max(norm, *(np.linalg.svd(each, compute_uv=False)[0] for each in parts))
    assert norm <= bound <= 1.1 * norm


@pytest.mark.parametrize("size", [7, 10, 22, 49])
def test_a_rounded_singular_value_does_not_fall_below_the_exact_one(size):
    model = keras.Sequential([keras.Input((size,)), layers.Dense(size)])
    model.set_weights([np.ones((size, size)), np.zeros(size)])  # of the norm `size`
    assert lipschitz_certificate(model).bound >= size


def test_groups_of_a_convolution_do_not_add_up():
    first = layers.Conv2D(4, 3, groups=2, padding="same", use_bias=False)
    model = keras.Sequential([keras.Input((12, 12, 4)), first])
    units = np.eye(12 * 12 * 4, dtype="float32").reshape(-1, 12, 12, 4)
    matrix = model.predict(units, verbose=0).reshape(len(units), -1)
    norm = np.linalg.norm(matrix.astype("float64"), 2)
    assert norm <= lipschitz_certificate(model).bound <= 1.05 * norm


def test_several_outputs_are_one_vector():
    inputs = keras.Input((3,))
    outputs = [layers.Rescaling(3.0)(inputs), layers.Rescaling(-4.0)(inputs)]
    bound, _ = lipschitz_certificate(keras.Model(inputs, outputs))
    assert np.isclose(bound, 5, rtol=1e-9)


def test_branches_add_up():
    inputs = keras.Input((3,))
    inner = keras.Sequential([keras.Input((3,)), layers.Rescaling(2.0)], name="inner")
    both = layers.Add()([inner(inputs), layers.Rescaling(-3.0)(inputs)])
    joined = layers.Concatenate()([both, inputs])
    bound, per_layer = lipschitz_certificate(keras.Model(inputs, joined))
    assert np.isclose(bound, np.hypot(5, 1), rtol=1e-9)
    assert any(path.startswith("inner/") for path in per_layer)


def test_a_layer_of_ones_own_says_its_bound():
    class Half(layers.Layer):
        def call(self, inputs):
            return inputs / 2

        def lipschitz_constant(self):
            return 0.5

    model = keras.Sequential([keras.Input((3,)), Half()])
    assert np.isclose(lipschitz_certificate(model).bound, 0.5)


@pytest.mark.parametrize(
    "layer",
    [
        layers.LayerNormalization(name="culprit"),
        VAFActivation(g="exponential", name="culprit"),
        layers.Dense(2, activation="exponential", name="culprit"),
        layers.ReLU(threshold=1.0, name="culprit"),
    ],
)
def test_the_layer_without_a_bound_is_named(layer):
    model = keras.Sequential([keras.Input((3,)), layer])
    with pytest.raises(ValueError, match="'culprit' has no known bound"):
        lipschitz_certificate(model)


def test_a_quantized_layer_has_no_bound():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, name="culprit")])
    model.layers[0].quantize("int8")
    with pytest.raises(ValueError, match="'culprit' has no known bound"):
        lipschitz_certificate(model)


def test_a_model_without_weights_is_refused():
    with pytest.raises(ValueError, match="not built"):
        lipschitz_certificate(keras.Sequential([layers.Dense(2)]))
