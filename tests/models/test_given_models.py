"""Functions of `keras_vaf.models` do not change what they are given."""

import inspect

import keras
import numpy as np
import pytest

from keras_vaf import layers, models

pytestmark = pytest.mark.backend("torch")


def vaf_of(model):
    return model.get_layer("vaf")


USES = {
    "convert": lambda model, path: models.convert(model),
    "formula": lambda model, path: models.formula(model),
    "freeze": lambda model, path: models.freeze(model),
    "simplify": lambda model, path: models.simplify(model, tolerance=0.1),
    "nearest": lambda model, path: models.nearest(vaf_of(model)),
    "to_vaf": lambda model, path: models.to_vaf(vaf_of(model)),
    "train_only_activations": lambda model, path: models.train_only_activations(model),
    "convert with data": lambda model, path: models.convert(
        model, g="relu", k=5, data=X
    ),
    "to_relu": lambda model, path: models.to_relu(model, data=X, widen=True),
    "freeze with data": lambda model, path: models.freeze(model, X[:3]),
    "simplify with data": lambda model, path: models.simplify(model, 0.1, X),
}
# These take no model, or are made to change one.
OTHERS = {"gaussian", "mlp", "report"}

X = np.random.default_rng(0).normal(size=(16, 4)).astype("float32")


@pytest.fixture
def model():
    """A trained model with a frozen layer, and weights that its constraints change."""
    made = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(6, activation="tanh", name="first"),
            layers.VAFActivation(beta_constraint="non_neg", name="vaf"),
            keras.layers.Dense(2, name="head"),
        ],
        name="model",
    )
    made.compile("adam", "mse")
    made.fit(X, X[:, :2], epochs=1, verbose=0)
    made.get_layer("first").trainable = False
    vaf = vaf_of(made)
    vaf.beta.assign([3.0, 1.0, -2.0])
    vaf.alpha.trainable = False
    return made


def state(model):
    """Return all that belongs to a model, in a form that can be compared."""
    variables = [*model.variables, *model.optimizer.variables]
    parts = model._flatten_layers()
    return {
        "values": [keras.ops.convert_to_numpy(v.value).tolist() for v in variables],
        "paths": [variable.path for variable in variables],
        "trained": [weight.trainable for weight in model.weights],
        "constraints": [id(weight.constraint) for weight in model.weights],
        "regularizers": [id(weight.regularizer) for weight in model.weights],
        "trainable": [part.trainable for part in parts],
        "names": [part.name for part in parts],
        "layers": [id(part) for part in parts],
        "attributes": [set(vars(part)) for part in parts],
        "configuration": model.get_config(),
        "output": keras.ops.convert_to_numpy(model(X)).tolist(),
    }


@pytest.mark.parametrize("name", USES)
def test_the_given_model_stays_as_it_is(name, model, tmp_path):
    before = state(model)
    result = USES[name](model, tmp_path / "file")
    assert state(model) == before
    if isinstance(result, keras.layers.Layer):  # shares no weight with the model
        result.set_weights([weight + 1 for weight in result.get_weights()])
        result.trainable = not result.trainable
        assert state(model) == before


def test_every_public_function_is_tried():
    functions = {n for n in models.__all__ if inspect.isfunction(getattr(models, n))}
    assert functions <= {*USES, *OTHERS}


def test_a_model_whose_conversion_fails_is_locked_as_before():
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.relu, self.head = keras.layers.ReLU(), keras.layers.Dense(2)

        def __setattr__(self, name, value):
            if isinstance(value, layers.VAFActivation):
                raise RuntimeError("no VAF")
            super().__setattr__(name, value)

        def call(self, x):
            return self.head(self.relu(x))

    model = Own()
    model(X)
    with pytest.raises(RuntimeError, match="no VAF"):
        models.convert(model, inplace=True)
    with pytest.raises(ValueError, match="already built"):
        model.other = keras.layers.Dense(2)
