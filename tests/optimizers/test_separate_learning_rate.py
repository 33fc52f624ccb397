"""Activations trained apart: against two optimizers, and inside Keras."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.optimizers import Rprop, activations_apart
from keras_vaf.optimizers.separate_learning_rate import ActivationsApart
from keras_vaf.training import train

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 32, 3)).astype("float32")


def make_model(dtype=None):
    """A small network whose BatchNormalization has a `beta`, as the VAF has."""

    def dense(units, seed, **arguments):
        kernel = keras.initializers.GlorotUniform(seed)
        return keras.layers.Dense(
            units, kernel_initializer=kernel, dtype=dtype, **arguments
        )

    def vaf(seed):
        start = RandomStart(seed=seed)
        return VAFActivation(initialization=start, dtype=dtype)

    normalization = keras.layers.BatchNormalization(dtype=dtype)
    hidden = [dense(4, 1), normalization, vaf(0)]
    return keras.Sequential(
        [keras.Input((3,)), *hidden, dense(3, 2, activation=vaf(1))]
    )


def activation_weights(model):
    """The activation parameters, by where they were put."""
    return [*model.layers[2].weights, *model.layers[3].activation.weights]


def values(variables):
    return [keras.ops.convert_to_numpy(v.value).astype("float32") for v in variables]


def moves(model, optimizer, epochs=1, **compile_arguments):
    """Return the changes of the activation parameters and of the other weights."""
    model.compile(optimizer, loss="mse", **compile_arguments)
    apart = {id(v) for v in activation_weights(model)}
    before = values(model.trainable_variables)
    model.fit(X, Y, batch_size=32, epochs=epochs, verbose=0)
    after = values(model.trainable_variables)
    changes = [
        (id(v) in apart, new - old)
        for v, old, new in zip(model.trainable_variables, before, after, strict=True)
    ]
    return [c for a, c in changes if a], [c for a, c in changes if not a]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SGD", {"weight_decay": 0.05}),
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("Adam", {}),
        ("AdamW", {"weight_decay": 0.05}),
        ("RMSprop", {"loss_scale_factor": 64.0}),
        ("Lion", {}),
    ],
)
def test_equals_two_optimizers(name, arguments):
    make = getattr(keras.optimizers, name)
    gradients = RNG.normal(size=(5, 2, 4)).astype("float32")
    parameters, references = (
        [keras.Variable(np.ones(4, "float32")) for _ in range(2)] for _ in range(2)
    )
    optimizer = ActivationsApart(make(0.1, **arguments), [False, True], 0.3)
    others = make(0.1, **arguments), make(0.03, **arguments | {"weight_decay": 0.0})
    for step in gradients:
        step = [keras.ops.convert_to_tensor(gradient) for gradient in step]
        optimizer.apply(step, parameters)
        for i in range(2):
            others[i].apply(step[i : i + 1], references[i : i + 1])
    for one, two in zip(values(parameters), values(references), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.backend("tensorflow")
def test_finds_parameters_by_layer_and_never_by_name():
    shared = keras.layers.PReLU(name="vaf_lookalike")
    stack = [
        *(keras.Input((3,)), keras.Sequential([keras.layers.Dense(3), shared])),
        keras.layers.BatchNormalization(name="vaf_activation"),
        keras.layers.Reshape((1, 3)),
        keras.layers.TimeDistributed(VAFActivation(k=1)),
    ]
    model = keras.Sequential(stack)
    marked = activations_apart(model, "sgd").is_activation
    pairs = zip(model.trainable_variables, marked, strict=True)
    found = [variable.name for variable, apart in pairs if apart]
    assert found == ["alpha", "alpha", "alpha_bias", "beta", "beta_bias"]


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_options_of_the_optimizer_act_on_both():
    options = {"clipnorm": 0.01, "use_ema": True, "gradient_accumulation_steps": 2}

    def optimizer():
        return keras.optimizers.SGD(0.1, **options)

    apart, others = moves(make_model(), optimizer(), epochs=4)
    model = make_model()
    both = moves(model, activations_apart(model, optimizer()), epochs=4)
    for one, other in zip([*both[0], *both[1]], [*apart, *others], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    "apart, factors",
    [([False, True], [1, 0.5]), ([True], [0.5])],
    ids=["both", "only activations"],
)
def test_a_schedule_changes_every_rate(apart, factors):
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay(
        [0, 1], [1.0, 0.1, 0.01]
    )
    optimizer = ActivationsApart(keras.optimizers.SGD(schedule), apart, 0.5)
    variables = [keras.Variable(np.float32(0)) for _ in apart]
    for place in (-1, -1.1, -1.11):
        optimizer.apply([keras.ops.ones(())] * len(apart), variables)
        np.testing.assert_allclose(values(variables), np.multiply(place, factors), 1e-5)


def test_mixed_precision_and_plateaus():
    model = make_model("mixed_float16")
    optimizer = activations_apart(model, keras.optimizers.SGD(0.1), 0.5)
    keras.config.set_dtype_policy("mixed_float16")
    try:
        model = keras.Sequential(model.layers)
        halve = keras.callbacks.ReduceLROnPlateau(
            "loss", 0.5, patience=0, min_delta=1e9
        )
        model.compile(optimizer, "mse")
        model.fit(X, Y, batch_size=32, epochs=2, verbose=0, callbacks=[halve])
    finally:
        keras.config.set_dtype_policy("float32")
    assert type(model.optimizer).__name__ == "LossScaleOptimizer"
    assert float(optimizer.learning_rate) == pytest.approx(0.05)
    assert all(np.isfinite(v).all() for v in values(model.trainable_variables))


def test_a_saved_model_trains_on_exactly(tmp_path):
    model = make_model()
    optimizer = activations_apart(model, keras.optimizers.AdamW(0.01), 0.1)
    model.compile(optimizer, "mse")
    model.train_on_batch(X, Y)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.optimizer.get_config() == optimizer.get_config()
    for each in (model, loaded):
        each.train_on_batch(X, Y)
    for one, other in zip(values(model.weights), values(loaded.weights), strict=True):
        np.testing.assert_array_equal(one, other)


def test_trains_as_a_compiled_program():
    model = make_model()
    model.compile(activations_apart(model, keras.optimizers.SGD(0.1), 1e-9), "mse")
    before = values(activation_weights(model))
    kernel = values(model.trainable_variables[:1])[0]
    train(model, X, Y, (X, Y), epochs=2)
    for one, other in zip(before, values(activation_weights(model)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert abs(kernel - values(model.trainable_variables[:1])[0]).max() > 1e-3


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "layers, optimizer, message",
    [
        ([keras.layers.Dense(2)], "sgd", "build it first"),
        ([keras.Input((2,)), keras.layers.Dense(2)], "sgd", "no activation param"),
        (
            [keras.Input((2,)), VAFActivation()],
            keras.optimizers.LossScaleOptimizer(Rprop()),
            "to the result instead",
        ),
    ],
)
def test_bad_arguments(layers, optimizer, message):
    with pytest.raises(ValueError, match=message):
        activations_apart(keras.Sequential(layers), optimizer)


def test_an_optimizer_that_was_used_is_refused():
    optimizer = keras.optimizers.SGD()
    optimizer.build(make_model().trainable_variables)
    with pytest.raises(ValueError, match="make a new one"):
        activations_apart(make_model(), optimizer)


@pytest.mark.backend("tensorflow")
def test_a_change_of_what_is_trainable_is_noticed():
    model = make_model()
    optimizer = activations_apart(model, "sgd")
    model.layers[0].trainable = False
    model.compile(optimizer, "mse")
    with pytest.raises(ValueError, match="after the last change of `trainable`"):
        model.fit(X, Y, verbose=0)


def test_variables_are_known_by_themselves():
    one, other, strange = (keras.Variable(np.float32(0)) for _ in range(3))
    optimizer = ActivationsApart(keras.optimizers.SGD(1.0), [False, True], 0.5)
    optimizer.build([one, other])
    ones = [keras.ops.ones(())] * 2
    optimizer.apply(ones)
    optimizer.learning_rate = 0.1  # as callbacks do
    optimizer.apply(ones, [one, other])
    np.testing.assert_allclose(values([one, other]), [-1.1, -0.55], rtol=1e-5)
    with pytest.raises(ValueError, match="known variable"):
        optimizer.apply(ones, [strange, other])
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply([None, None])
