"""Wrong arguments raise a `ValueError` that shows what was received."""

import math

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf import (
    callbacks,
    constraints,
    datasets,
    experiments,
    initializers,
    layers,
    models,
    optimizers,
    paper,
    regularizers,
    sklearn,
    training,
    tuners,
    visualization,
)

pytestmark = pytest.mark.backend("tensorflow")

ROWS = np.zeros((10, 4), "float32"), np.arange(10) % 2

TEXT_OR_NOTHING = ("three", None, object(), [], "")
NOT_A_NUMBER = (*TEXT_OR_NOTHING, math.nan, True)
NUMBER = (*NOT_A_NUMBER, math.inf, -math.inf, 10**400)
POSITIVE = (*NUMBER, 0, -1.0)
COUNT = (*NOT_A_NUMBER, 3.5, -1)
SEEDS = (None, 3, "three", [], [0, 0], [0.5], [-1], [True])
SEED = ("three", object(), [], 0.5, -1, True)
FLAG = ("yes", None, 1, [])
NUMBERS = (3.5, None, "123", object(), [math.nan], ["a"], [True], [10**400])
OPTIONAL_NAME = ("no such", 3, True, object())
NAME = (*OPTIONAL_NAME, None)
NAMES = (3.5, object(), "no such")
MODEL = (3.5, None, "model.keras", object(), keras.Model)


@pytest.fixture(scope="module")
def model():
    dense = keras.layers.Dense(3, activation=layers.VAFActivation())
    made = keras.Sequential(
        [keras.Input((4,)), dense, keras.layers.ReLU(), keras.layers.Dense(2)]
    )
    made.compile("sgd", "mse")
    return made


def train(model, epochs=1, **others):
    return training.train(model, *ROWS, ROWS, epochs, **others)


def fit_classifier(**arguments):
    return sklearn.VAFClassifier(**{"epochs": 1} | arguments).fit(*ROWS)


def fit_regressor(**arguments):
    return sklearn.VAFRegressor(**{"epochs": 1} | arguments).fit(*ROWS)


DATASET = {
    "name": "a",
    "task": "classification",
    "x": ROWS[0],
    "y": ROWS[1],
    "feature_names": tuple("abcd"),
    "class_names": tuple("no"),
}
SMALL = datasets.Dataset(**DATASET)
TABLE_OF_ROWS = pd.DataFrame(ROWS[0], columns=[*"abcd"])
DIFFERENCES = ("123", [], [1.0], ["a", "b"], [math.nan, 1.0], [10**400, 1])
FRACTION = (*NUMBER, -1.0, 1)  # 0 is a test fraction
LINES = {"knots": [0.0], "slopes": [0.0, 1.0]}
NETWORK = {"inputs": 4, "hidden": (3,), "outputs": 2, "activation": keras.layers.ReLU}
IMAGES = {"input_shape": (8, 8, 1), "filters": (2,), "outputs": 2}

# A function, arguments that are right, and for some of its arguments wrong values.
# "MODEL" stands for a model.
TABLE = {
    constraints.Interval: ({"maximum": 1}, {"minimum": (*NUMBER[:1], *NUMBER[2:], 2)}),
    initializers.FunctionStart: ({}, {"function": NAME}),
    initializers.PiecewiseLinearStart: (
        LINES,
        {"knots": NUMBERS, "slopes": NUMBERS, "value": NUMBER},
    ),
    initializers.RandomStart: ({}, {"seed": SEED, "rescale": FLAG}),
    initializers.get: ({}, {"identifier": NAME}),
    layers.VAFActivation: (
        {},
        {
            "k": COUNT,
            "g": NAME,
            "sharing": (*NAME, (0, 1), (1, 1), (1.0,)),
            "initialization": (*NAME, keras.initializers.Ones()),
            "data_format": OPTIONAL_NAME,
        },
    ),
    layers.ActivationEnsemble: ({}, {"momentum": (*NUMBER, -0.1, 1.1)}),
    layers.XIELU: ({}, {"beta": NUMBER}),
    layers.MLPConv: ({"kernel_size": 1}, {"filters": (*NAMES, (), (4, 0), (1.5,))}),
    layers.KAF: ({}, {"D": COUNT, "boundary": POSITIVE, "train_gamma": FLAG}),
    layers.APL: ({}, {"S": COUNT, "seed": SEED}),
    layers.ABU: ({}, {"functions": NAMES, "normalization": OPTIONAL_NAME}),
    layers.MixedActivation: ({}, {"gated": FLAG, "sharing": OPTIONAL_NAME}),
    layers.PolynomialActivation: ({}, {"degree": COUNT}),
    layers.Rational: ({}, {"numerator_degree": COUNT, "initialization": NAME}),
    layers.SplineActivation: ({}, {"q": COUNT, "initialization": NAME}),
    layers.Maxout: ({}, {"k": COUNT}),
    models.mlp: (NETWORK, {"inputs": COUNT, "hidden": NAMES, "seed": SEED}),
    paper.cnet: (
        IMAGES | {"activation": keras.layers.ReLU},
        {"input_shape": NAMES, "filters": NAMES, "seed": SEED},
    ),
    models.convert: (
        {"model": "MODEL"},
        {"model": MODEL, "k": COUNT[:1] + COUNT[2:], "inplace": FLAG, "sharing": NAME},
    ),
    models.simplify: (
        {"model": "MODEL", "tolerance": 0.1},
        {"model": MODEL, "tolerance": POSITIVE},
    ),
    **{f: ({}, {"layer": MODEL}) for f in (models.to_vaf, models.nearest)},
    models.freeze: ({}, {"model": MODEL}),
    models.train_only_activations: (
        {"model": "MODEL"},
        {"model": MODEL, "inplace": FLAG},
    ),
    optimizers.Rprop: (
        {},
        {
            "eta_plus": POSITIVE,
            "eta_minus": POSITIVE,
            "min_step": POSITIVE,
            "max_step": POSITIVE,
            "variant": NAME,
        },
    ),
    optimizers.activations_apart: (
        {"model": "MODEL", "optimizer": "adam"},
        {"model": MODEL, "learning_rate_factor": POSITIVE},
    ),
    regularizers.SlopeVariation: ({}, {"factor": NUMBER}),
    regularizers.Damping: ({}, {"factor": NUMBER}),
    training.split: (
        {"y": ROWS[1]},
        {"fraction": POSITIVE, "seed": SEED, "rows": COUNT[:1] + COUNT[2:]},
    ),
    callbacks.ActivationMonitor: (
        {"data": ROWS[0]},
        {"picture": (3.5, []), "rows": COUNT, "every": COUNT},
    ),
    datasets.Column: ({"name": "a"}, {"kind": NAME}),
    datasets.Dataset: (DATASET, {"task": NAME, "x": NAMES, "y": ([[1]], *NAMES)}),
    datasets.Preprocessing: ({}, {"targets": NAME}),
    datasets.find: ({}, {"name": NAME}),
    datasets.load: ({}, {"name": NAME}),
    datasets.predict_table: ({"source": TABLE_OF_ROWS}, {"model": MODEL}),
    datasets.read_table: (
        {"source": "new.csv", "target": "y"},
        {
            "source": (3.5, None, [[1]], ROWS[0]),
            "task": OPTIONAL_NAME,
            "dates": OPTIONAL_NAME,
        },
    ),
    experiments.Arm: (
        {"name": "a", "title": "A"},
        {"layer": (*NAME, "deserialize")},
    ),
    experiments.Recipe: (
        {},
        {
            "hidden": NAMES,
            "learning_rates": ([], [0.1, 0.1], [-1.0], [math.nan]),
            "epochs": COUNT,
            "folds": COUNT,
            "patience": COUNT[:1] + COUNT[2:],
            "batch_size": COUNT[:1] + COUNT[2:],
            "missing": NAME,
            "targets": NAME,
        },
    ),
    experiments.compare: (
        {"data": SMALL},
        {
            "activations": (["relu"], "no such", "relu,relu"),
            "recipe": ("quick", 3.5),
            "seeds": SEEDS,
            "quick": FLAG,
            "jobs": COUNT,
        },
    ),
    experiments.find_arms: ({}, {"names": (*OPTIONAL_NAME, None, ["relu"])}),
    experiments.holm: ({}, {"p_values": (*NUMBERS, [-0.1], [0.5, 1.1])}),
    experiments.corrected_interval: (
        {"differences": [1.0, 2.0], "test_fraction": 0.1},
        {"differences": DIFFERENCES, "test_fraction": FRACTION},
    ),
    fit_classifier: ({}, {"hidden": NAMES, "k": COUNT, "activation": NAME}),
    fit_regressor: (
        {},
        {
            "learning_rate": POSITIVE,
            "epochs": COUNT,
            "batch_size": COUNT[:1] + COUNT[2:],
            "validation_fraction": (0, *FRACTION[:1], *FRACTION[2:]),
            "patience": COUNT[:1] + COUNT[2:],
        },
    ),
    tuners.CrossValidated: ({}, {"tuner_class": NAME}),
    tuners.SearchSpace: (
        {},
        {
            "k": (*NAMES, [], [0], ["three"], [3, 3]),
            "g": (*NAMES, [], ["no such"]),
            "sharing": (*NAMES, [], ["no such"]),
            "initialization": (*NAMES, []),
        },
    ),
    visualization.plot_activation: ({}, {"layer": MODEL}),
    visualization.plot_epochs: ({}, {"records": ([], {}, 3.5, "no such", [3])}),
    train: ({"model": "MODEL"}, {"model": MODEL, "epochs": COUNT}),
}
CASES = [
    pytest.param(function, right, name, values, id=f"{function.__name__}-{name}")
    for function, (right, arguments) in TABLE.items()
    for name, values in arguments.items()
]


@pytest.mark.parametrize(("function", "right", "name", "values"), CASES)
def test_wrong_arguments_are_refused_with_what_was_received(
    function, right, name, values, model
):
    given = {
        key: model if isinstance(v, str) and v == "MODEL" else v
        for key, v in right.items()
    }
    for value in values:
        with pytest.raises(ValueError, match="Received"):
            function(**given | {name: value})
            pytest.fail(f"{name}={value!r} was accepted.")
