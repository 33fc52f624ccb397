"""Wrong arguments raise a `ValueError` that shows what was received."""

import math
import operator
import re

import keras
import numpy as np
import pandas as pd
import pytest

import keras_vaf
from keras_vaf import layers
from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Arm, Recipe

pytestmark = pytest.mark.backend("tensorflow")

ROWS = np.zeros((10, 4), "float32"), np.arange(10) % 2
PLAIN = keras.Sequential([keras.Input((3,)), keras.layers.ReLU()])
UNBUILT = layers.VAFActivation(sharing="channel")
LINEAR = Arm("linear", "the name of a reference", "Identity")

NOT_A_NUMBER = ("three", None, object(), [], "", math.nan, True)
NUMBER = (*NOT_A_NUMBER, math.inf, -math.inf, 10**400)
POSITIVE = (*NUMBER, 0, -1.0)
COUNT = (*NOT_A_NUMBER, 3.5, -1)
NUMBERS = (3.5, None, "123", object(), [math.nan], ["a"], [True], [10**400])
NAMES = (3.5, object(), "no such")
OPTIONAL_NAME = ("no such", 3, True, object())
NAME = (*OPTIONAL_NAME, None)
MODEL = (3.5, None, "model.keras", object(), keras.Model)


def optional(values):
    """Leave out None."""
    return tuple(value for value in values if value is not None)


# The wrong values of all arguments of these names, or of those of one function.
VALUES = {
    "D S degree every folds inputs jobs numerator_degree q": COUNT,
    "epochs Maxout.k VAFClassifier.k": COUNT,
    "batch_size k patience rows": optional(COUNT),
    "gated inplace quick rescale train_gamma widen": ("yes", None, 1, []),
    "fraction learning_rate learning_rate_factor min_step tolerance": POSITIVE,
    "eta_minus eta_plus validation_fraction": (*POSITIVE, 1),
    "VAFRegressor.validation_fraction": (0, 1, -1.0, *optional(NUMBER)),
    "function g kind missing name targets task variant": NAME,
    "data_format dates normalization read_table.task": OPTIONAL_NAME,
    "MixedActivation.sharing": OPTIONAL_NAME,
    "cnet.filters functions hidden input_shape": NAMES,
    "layer model": MODEL,
    "beta factor value": NUMBER,
    "seed": ("three", object(), [], 0.5, -1, True),
    "recipe": ("quick", 3.5),
    "compare.seeds": (3, "three", [], [0, 0], [0.5], [-1], [True]),
    "seeds": (None, 3, "three", [], [0, 0], [0.5], [-1], [True]),
    "sharing": (*NAME, (0, 1), (1, 1), (1.0,)),
    "initialization": (*NAME, keras.initializers.Ones()),
    "minimum": optional((*NUMBER, 2)),
    "knots": (*NUMBERS, [0.0, 1.0], [1, 0], [0, 0]),
    "slopes": (*NUMBERS, [1.0, math.inf]),
    "momentum": (*NUMBER, -0.1, 1.1),
    "boundary": (*POSITIVE, 1e-200, 1e200),
    "filters": ((), (4, 0), (1.5,), *NAMES),
    "max_step": (*POSITIVE, 0.5),
    "split.y": ([], [0, 1, 2]),
    "picture": (3.5, []),
    "source": (3.5, None, [[1]], ROWS[0]),
    "title Arm.name": (3.5, None, ["a"]),
    "Arm.layer": (*NAME, "deserialize"),
    "arguments": ({"g": np.tanh},),
    "learning_rates": ([], [0.1, 0.1], [-1.0], [math.nan]),
    "test_size": (0, -1, 1.5, True, "a fifth"),
    "optimizer_arguments": ({"learning_rate": 1}, {"a": 1j}),
    "names": (*NAME, ["relu"]),
    "p_values": (*NUMBERS, [-0.1], [0.5, 1.1]),
    "differences": ("123", [], [1.0], ["a", "b"], [math.nan, 1.0], [10**400, 1]),
    "test_fraction": (*NUMBER, -1.0, 1),  # 0 is one
    "VAFClassifier.hidden": (*NAMES, 4),
    "activation": (*NAME, np.tanh),
    "plot_activation.layer": (*MODEL, PLAIN.layers[0], UNBUILT),
    "plot_activations.model": (*MODEL, PLAIN),
    "records": ([], {}, 3.5, "no such", [3]),
}
WRONG = {name: values for names, values in VALUES.items() for name in names.split()}

# The arguments of each function that are tested here.
TESTED = """
constraints.Interval: minimum
initializers.FunctionStart: function
initializers.PiecewiseLinearStart: knots slopes value
initializers.RandomStart: seed rescale
layers.VAFActivation: k g sharing initialization data_format
layers.ActivationEnsemble: momentum; layers.XIELU: beta; layers.MLPConv: filters
layers.KAF: D boundary train_gamma; layers.APL: S seed
layers.ABU: functions normalization; layers.MixedActivation: gated sharing
layers.PolynomialActivation: degree; layers.Rational: numerator_degree initialization
layers.SplineActivation: q boundary initialization; layers.Maxout: k
models.mlp: inputs hidden seed
paper.cnet: input_shape filters seed
models.convert: model k inplace sharing; models.simplify: model tolerance
models.to_relu: model k widen
models.to_vaf: layer; models.nearest: layer; models.freeze: model
models.train_only_activations: model inplace
optimizers.Rprop: eta_plus eta_minus min_step max_step variant learning_rate
optimizers.activations_apart: model learning_rate_factor
regularizers.SlopeVariation: factor; regularizers.Damping: factor
training.split: fraction seed rows y
callbacks.ActivationMonitor: rows every picture
datasets.Column: kind; datasets.Preprocessing: targets; datasets.find: name
datasets.load: name; datasets.predict_table: model
datasets.read_table: dates source task
experiments.Arm: name title layer arguments
experiments.Recipe: hidden epochs folds missing targets patience batch_size
experiments.Recipe: learning_rates test_size optimizer_arguments validation_fraction
experiments.compare: recipe seeds quick jobs
experiments.refit: learning_rate epochs seed; experiments.find_arms: names
experiments.holm: p_values; experiments.corrected_interval: differences test_fraction
sklearn.VAFClassifier: k hidden activation
sklearn.VAFRegressor: learning_rate epochs batch_size patience validation_fraction
tuners.search: recipe seed
visualization.plot_activation: layer; visualization.plot_activations: model
visualization.plot_epochs: records
"""
CASES = [
    (function, name)
    for function, names in re.findall(r"(\S+): ([^;\n]+)", TESTED)
    for name in names.split()
]


@pytest.fixture(scope="module")
def right():
    """Return the right values of the arguments that a function must have."""
    dense = keras.layers.Dense(3, activation=layers.VAFActivation())
    parts = keras.Input((4,)), dense, keras.layers.ReLU(), keras.layers.Dense(2)
    model = keras.Sequential(parts)
    table = {"feature_names": (*"abcd",), "class_names": ("n", "o")}
    data = Dataset("a", "classification", *ROWS, **table)
    network = {"outputs": 2, "activation": keras.layers.ReLU}
    small = {"arm": LINEAR, "recipe": Recipe(hidden=(2,))}
    return {
        "Interval": {"maximum": 1},
        "PiecewiseLinearStart": {"knots": [0.0], "slopes": [0.0, 1.0]},
        "MLPConv": {"kernel_size": 1},
        "mlp": network | {"inputs": 4, "hidden": (3,)},
        "cnet": network | {"input_shape": (8, 8, 1), "filters": (2,)},
        "convert": {"model": model},
        "to_relu": {"model": model},
        "simplify": {"model": model, "tolerance": 0.1},
        "train_only_activations": {"model": model},
        "Rprop": {"min_step": 1.0},
        "activations_apart": {"model": model, "optimizer": "adam"},
        "split": {"y": ROWS[1]},
        "ActivationMonitor": {"data": ROWS[0]},
        "Column": {"name": "a"},
        "predict_table": {"source": pd.DataFrame(ROWS[0])},
        "read_table": {"source": "new.csv", "target": "y"},
        "Arm": {"name": "a", "title": "A", "layer": "ReLU"},
        "compare": {"data": data},
        "refit": small | {"dataset": data, "epochs": 1, "learning_rate": 0.1},
        "corrected_interval": {"differences": [1.0, 2.0], "test_fraction": 0.1},
        "VAFClassifier": {"epochs": 1},
        "VAFRegressor": {"epochs": 1},
        "search": {"data": data},
    }


@pytest.mark.parametrize(("function", "name"), CASES)
def test_wrong_arguments_are_refused_with_what_was_received(function, name, right):
    short = function.partition(".")[2]
    for value in WRONG.get(f"{short}.{name}", WRONG.get(name)):
        with pytest.raises(ValueError, match="Received"):
            made = operator.attrgetter(function)(keras_vaf)(
                **right.get(short, {}) | {name: value}
            )
            if function.startswith("sklearn"):
                made.fit(*ROWS)  # which checks them, by scikit-learn's rules
            pytest.fail(f"{name}={value!r} was accepted.")
