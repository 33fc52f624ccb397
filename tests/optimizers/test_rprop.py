"""Rprop against torch's, against a transcription of the paper, and inside Keras."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keras_vaf.optimizers import Rprop

SIGNIFICANT = st.floats(-4, 4, width=32).map(lambda x: 0 if abs(x) < 1e-3 else x)
GRADIENTS = arrays(
    np.float32, st.tuples(st.integers(1, 12), st.just(5)), elements=SIGNIFICANT
)
DEFAULTS = {
    "learning_rate": 0.01,
    "eta_plus": 1.2,
    "eta_minus": 0.5,
    "min_step": 1e-6,
    "max_step": 50.0,
}
SETTINGS = [
    {},
    {"learning_rate": 0.3, "eta_plus": 1.01, "eta_minus": 0.25},
    {"learning_rate": 0.1, "min_step": 0.06, "max_step": 0.15},
    {"learning_rate": 1.0, "max_step": 0.5},
]


def weights_after(optimizer, gradients, start=1.0):
    """Return the weights after each update with the given gradients."""
    weights = keras.Variable(np.full(np.shape(gradients)[1:], start, "float32"))
    path = []
    for gradient in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [weights])
        path.append(weights.numpy().copy())
    return np.array(path)


def weights_after_in_torch(gradients, rate, up, down, least, most):
    """Return the same, from `torch.optim.Rprop`."""
    import torch

    weights = torch.ones(gradients.shape[1:], device="cpu", requires_grad=True)
    optimizer = torch.optim.Rprop([weights], rate, (down, up), (least, most))
    path = []
    for gradient in gradients:
        weights.grad = torch.tensor(gradient, device="cpu")
        optimizer.step()
        path.append(weights.detach().numpy().copy())
    return np.array(path)


def weights_after_in_numpy(gradients, rate, up, down, least, most):
    """Return the same of Riedmiller and Braun, 1993, one weight at a time."""
    path = np.ones(gradients.shape)
    for j in range(gradients.shape[1]):
        weight, step, last_gradient, last_move = 1.0, rate, 0.0, 0.0
        for t, gradient in enumerate(gradients[:, j].astype(float)):
            if last_gradient * gradient > 0:
                step = min(step * up, most)
                move = -np.sign(gradient) * step
                last_gradient = gradient
            elif last_gradient * gradient < 0:
                step = max(step * down, least)
                move = -last_move
                last_gradient = 0.0
            else:
                step = min(max(step, least), most)
                move = -np.sign(gradient) * step
                last_gradient = gradient
            weight += move
            last_move = move
            path[t, j] = weight
    return path


def small_model(optimizer):
    initializer = keras.initializers.RandomNormal(seed=1)
    layers = [keras.Input((3,)), keras.layers.Dense(2, kernel_initializer=initializer)]
    model = keras.Sequential(layers)
    model.compile(optimizer=optimizer, loss="mse")
    return model


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        pytest.param(
            *("irprop-", weights_after_in_torch), marks=pytest.mark.backend("torch")
        ),
        ("rprop+", weights_after_in_numpy),
    ],
    ids=["torch", "the paper"],
)
@settings(max_examples=30, deadline=None)
@given(arguments=st.sampled_from(SETTINGS), gradients=GRADIENTS)
def test_each_variant_equals_its_reference(variant, expected, arguments, gradients):
    np.testing.assert_allclose(
        weights_after(Rprop(variant=variant, **arguments), gradients),
        expected(gradients, *(DEFAULTS | arguments).values()),
        rtol=1e-6,
        atol=1e-6,
    )


def test_the_learning_rate_is_the_first_step():
    optimizer = Rprop()
    gradients = np.ones((2, 1), "float32")
    weights = keras.Variable([1.0])
    optimizer.build([weights])
    optimizer.learning_rate = 0.5
    optimizer.apply([keras.ops.convert_to_tensor(gradients[0])])
    optimizer.learning_rate = 100.0
    optimizer.apply([keras.ops.convert_to_tensor(gradients[1])])
    assert float(weights.numpy()[0]) == pytest.approx(1 - 0.5 - 0.6)


def test_a_schedule_gives_the_first_step():
    schedule = keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.1)
    path = weights_after(Rprop(schedule), np.ones((2, 1), "float32"))
    np.testing.assert_allclose(path[:, 0], [0.5, -0.1], atol=1e-6)
    assert "class_name" in Rprop(schedule).get_config()["learning_rate"]


def test_weight_decay_is_learning_rate_times_decay():
    gradients = np.zeros((1, 2), "float32")
    path = weights_after(Rprop(0.1, weight_decay=0.5), gradients, start=2.0)
    np.testing.assert_allclose(path, [[1.9, 1.9]], rtol=1e-6)


@pytest.mark.parametrize("variant", ["irprop-", "rprop+"])
def test_a_saved_model_trains_on_exactly(variant, tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(16, 3)), rng.normal(size=(16, 2))
    model = small_model(Rprop(0.1, variant=variant))
    model.fit(x, y, batch_size=16, epochs=4, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for each in (model, loaded):
        each.fit(x, y, batch_size=16, epochs=4, verbose=0)
    for one, two in zip(model.weights, loaded.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


@pytest.mark.backend("tensorflow")
def test_configuration_round_trip():
    arguments = {"learning_rate": 0.5, "eta_plus": 1.1, "eta_minus": 0.4}
    arguments |= {"min_step": 1e-3, "max_step": 2.0, "variant": "rprop+"}
    arguments |= {"name": "mine", "weight_decay": 0.1}
    saved = keras.optimizers.serialize(Rprop(**arguments))
    config = keras.optimizers.deserialize(saved).get_config()
    assert {name: config[name] for name in arguments} == arguments


def test_weights_without_a_gradient_start_when_one_comes():
    one, other = keras.Variable([1.0]), keras.Variable([1.0])
    gradient = keras.ops.convert_to_tensor([1.0])
    optimizer = Rprop(0.1)
    optimizer.build([one, other])
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        optimizer.apply([gradient, None])
    optimizer.apply([gradient, gradient])
    assert float(other.numpy()[0]) == pytest.approx(0.9)


def test_embeddings():
    layer = keras.layers.Embedding(4, 2, embeddings_initializer="ones")
    model = keras.Sequential([keras.Input((1,), dtype="int32"), layer])
    model.compile(optimizer=Rprop(0.5), loss="mse")
    model.fit(np.array([[1], [1], [3]]), np.zeros((3, 1, 2)), verbose=0)
    np.testing.assert_allclose(
        layer.get_weights()[0], [[1, 1], [0.5, 0.5], [1, 1], [0.5, 0.5]]
    )


@pytest.mark.backend("jax")
@pytest.mark.parametrize("variant", ["irprop-", "rprop+"])
def test_many_networks_at_once(variant):
    import jax

    gradients = np.random.default_rng(0).normal(size=(6, 3, 4)).astype("float32")
    rates = np.array([0.01, 0.1, 1.0], "float32")
    weights = keras.Variable(np.ones(4, "float32"))
    optimizer = Rprop(variant=variant)
    optimizer.build([weights])
    names = [variable.name for variable in optimizer.variables]
    state = [np.stack([v.value] * 3) for v in optimizer.variables]
    state[names.index("learning_rate")] = rates
    update = jax.jit(jax.vmap(optimizer.stateless_apply))
    values = [np.ones((3, 4), "float32")]
    for gradient in gradients:
        values, state = update(state, [gradient], values)
    for i, rate in enumerate(rates):
        alone = weights_after(Rprop(float(rate), variant=variant), gradients[:, i])
        np.testing.assert_allclose(values[0][i], alone[-1], rtol=1e-6)
