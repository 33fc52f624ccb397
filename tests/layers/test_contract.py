"""The contract of every trainable activation, whatever its function."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers
from keras_vaf.layers.sharing import unshared_axes
from keras_vaf.ops import pointwise
from tests.harness import check_layer, double_precision, to_arrays, to_tensors, vjp
from tests.layers.family import ACTIVATIONS, built, fresh, sample

# Rank 2 to 5, always 48 elements.
CASES = (
    ((12, 4), "layer"),
    ((12, 4), "channel"),
    ((4, 3, 4), "neuron"),
    ((2, 3, 2, 4), "channel"),
    ((2, 3, 2, 4), (1, -2)),
    ((2, 2, 3, 2, 2), (2,)),
)
# Elsewhere Keras computes in float32 what it is given in float64: tanh on JAX, maximum
# on PyTorch.
EXACT = keras.backend.backend() == "tensorflow"

activations = pytest.mark.parametrize(
    "layer", ACTIVATIONS, ids=lambda layer: layer.name
)


def expected_output(layer, x):
    """Apply to each element the one of the layer's functions that is its own."""
    place = np.ix_(*map(range, x.shape))
    axes = unshared_axes(layer.sharing, x.ndim, layer.data_format)
    return layer.function(x)[(*place, *(place[axis] for axis in axes))]


@activations
def test_keras_own_checks(layer):
    statistics = 2 if isinstance(layer, layers.ActivationEnsemble) else 0
    check_layer(
        type(layer),
        init_kwargs={**layer.get_config(), "name": None},
        input_shape=(2, 3, 4),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=len(layer.weight_names) - statistics,
        expected_num_non_trainable_weights=statistics,
        expected_num_seed_generators=0,
        expected_num_losses=0,
        supports_masking=True,
    )


@activations
@pytest.mark.parametrize("shape, sharing", CASES)
def test_each_element_gets_its_own_function(layer, sharing, shape):
    layer = built(layer, shape, sharing=sharing)
    x = sample(shape)
    y = ops.convert_to_numpy(layer(x))
    np.testing.assert_allclose(y, expected_output(layer, x), rtol=1e-5, atol=1e-5)


@activations
def test_channels_first(layer):
    arguments = {"sharing": "channel", "data_format": "channels_first"}
    layer = built(layer, (2, 4, 2, 3), **arguments)
    x = sample((2, 4, 2, 3))
    y = ops.convert_to_numpy(layer(x))
    np.testing.assert_allclose(y, expected_output(layer, x), rtol=1e-5, atol=1e-5)


@activations
def test_gradients_agree_with_finite_differences(layer):
    """Along one random direction of each tensor, in float64."""
    shape, step, error = (12, 4), *((1e-6, 1e-6) if EXACT else (1e-3, 2e-3))
    layer = built(layer, shape, sharing="channel")
    weights = [weight.astype("float64") for weight in layer.get_weights()]
    arguments = [sample(shape, "float64"), *weights]
    generator = np.random.default_rng(2)
    upstream = generator.normal(size=shape)

    def function(x, *weights):
        return pointwise(layer.equation, x, weights, (1,))

    def loss(*arrays):
        (y,) = to_arrays([function(*to_tensors(arrays))])
        return np.sum(upstream * y)

    with double_precision():
        tensors = to_tensors(arguments)
        _, gradients = vjp(function, tuple(tensors), *to_tensors([upstream]))
        for i, gradient in enumerate(to_arrays(gradients)):
            direction = generator.normal(size=gradient.shape)
            ahead, behind = list(arguments), list(arguments)
            ahead[i] = arguments[i] + step * direction
            behind[i] = arguments[i] - step * direction
            difference = (loss(*ahead) - loss(*behind)) / (2 * step)
            slope = np.sum(gradient * direction)
            np.testing.assert_allclose(slope, difference, rtol=error, atol=error)


@activations
@pytest.mark.parametrize(
    "dtype, compute, weights, error",
    [
        ("float64", "float64", "float64", 1e-12 if EXACT else 1e-6),
        ("float16", "float16", "float32", 1e-3),
        ("mixed_float16", "float16", "float32", 1e-3),
        ("mixed_bfloat16", "bfloat16", "float32", 1e-2),
    ],
)
def test_precision(layer, dtype, compute, weights, error):
    """Output in the compute dtype; weights and arithmetic in float32 or wider."""
    with double_precision():
        layer = built(layer, (12, 4), dtype=dtype)
        x = ops.cast(ops.convert_to_tensor(sample((12, 4))), compute)
        y = layer(x)
        assert keras.backend.standardize_dtype(y.dtype) == compute
        assert {weight.dtype for weight in layer.weights} == {weights}
        x, y = (ops.convert_to_numpy(ops.cast(t, "float64")) for t in (x, y))
    np.testing.assert_allclose(y, expected_output(layer, x), rtol=error, atol=error)


@activations
def test_a_mask_passes_unchanged(layer):
    inputs = keras.Input((None, 4))
    outputs = fresh(layer, sharing="channel")(keras.layers.Masking()(inputs))
    model = keras.Model(inputs, keras.layers.GlobalAveragePooling1D()(outputs))
    x = sample((2, 3, 4))
    longer = np.concatenate([x, np.zeros((2, 2, 4), "float32")], axis=1)
    means = [ops.convert_to_numpy(model(batch)) for batch in (x, longer)]
    np.testing.assert_allclose(means[0], means[1], rtol=1e-5, atol=1e-6)


@activations
def test_unknown_sizes(layer):
    inputs = keras.Input((None, None, 4))
    activation = fresh(layer, sharing="channel")
    model = keras.Model(inputs, activation(inputs))
    assert model.output_shape == (None, None, None, 4)
    for shape in ((2, 3, 2, 4), (1, 4, 3, 4)):
        x = sample(shape)
        y = ops.convert_to_numpy(model(x))
        expected = expected_output(activation, x)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@activations
def test_saved_and_loaded(layer, tmp_path):
    model = keras.Sequential([keras.Input((4,)), built(layer, (None, 4))])
    x = sample((12, 4))
    y = ops.convert_to_numpy(model(x))
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    described = keras.models.model_from_json(model.to_json())
    described.load_weights(tmp_path / "model.weights.h5")
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    for other in (loaded, described, clone):
        np.testing.assert_array_equal(ops.convert_to_numpy(other(x)), y)
        assert other.layers[0] is not model.layers[0]


@activations
def test_the_configuration_is_that_of_the_constructor(layer):
    """Keras's own checks restore it."""
    layer = fresh(layer, sharing="channel")
    before = layer.get_config()
    layer.build((None, 4))
    assert layer.get_config() == before


@activations
def test_each_weight_has_its_own_arguments(layer):
    given = {}
    for i, name in enumerate(layer.weight_names):
        given[f"{name}_initializer"] = keras.initializers.Constant(i + 2)
        given[f"{name}_regularizer"] = keras.regularizers.L2(0.1 * (i + 1))
        given[f"{name}_constraint"] = keras.constraints.MaxNorm(i + 1.0)
    layer = fresh(fresh(layer, sharing="channel", **given))
    layer.build((None, 3))
    penalty = 0.0
    for i, name in enumerate(layer.weight_names):
        weight = getattr(layer, name)
        value = np.full(weight.shape, i + 2, "float32")
        np.testing.assert_array_equal(ops.convert_to_numpy(weight), value)
        assert weight.constraint.max_value == i + 1
        if name not in layer.non_trainable_weight_names:
            penalty += 0.1 * (i + 1) * np.square(value).sum()
    (loss,) = to_arrays([sum(layer.losses)])
    np.testing.assert_allclose(loss, penalty, rtol=1e-5)


WAYS = {
    "function": lambda tf, layer, x: tf.function(layer)(x),
    "signature": lambda tf, layer, x: tf.function(
        layer, input_signature=[tf.TensorSpec([None, 4], "float32")]
    )(x),
    "map": lambda tf, layer, x: tf.map_fn(layer, x[None])[0],
}


@pytest.mark.backend("tensorflow")
@activations
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_ways_of_tensorflow_to_call_a_function(layer, way, sharing):
    import tensorflow as tf

    layer = built(layer, (None, 4), sharing=sharing)
    x = tf.constant(sample((5, 4)))
    found = WAYS[way](tf, layer, x).numpy()
    expected = layer(x).numpy()  # afterwards: training may move running statistics
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
