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
BOUNDARY = (*POSITIVE, 1e-200, 1e200)
BOUND = tuple(value for value in NUMBER if value is not None)
COUNT = (*NOT_A_NUMBER, 3.5, -1)
OPTIONAL_COUNT = tuple(value for value in COUNT if value is not None)
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


DATASET = {"name": "a", "task": "classification", "x": ROWS[0], "y": ROWS[1]}
DATASET |= {"feature_names": tuple("abcd"), "class_names": tuple("no")}
SMALL = datasets.Dataset(**DATASET)
TABLE = pd.DataFrame(ROWS[0], columns=[*"abcd"])
DIFFERENCES = ("123", [], [1.0], ["a", "b"], [math.nan, 1.0], [10**400, 1])
FRACTION = (*NUMBER, -1.0, 1)  # 0 is a test fraction
UNBUILT = layers.VAFActivation(sharing="channel")
PLAIN = keras.Sequential([keras.Input((3,)), keras.layers.ReLU()])
LINES = {"knots": [0.0], "slopes": [0.0, 1.0]}
NETWORK = {"outputs": 2, "activation": keras.layers.ReLU}
DENSE = NETWORK | {"inputs": 4, "hidden": (3,)}
IMAGES = NETWORK | {"input_shape": (8, 8, 1), "filters": (2,)}
CHOICES = (*NAMES, [], ["no such"])
NO_TEXT = (3.5, None, ["a"])
RECIPE = experiments.Recipe(hidden=(2,))
LINEAR = [experiments.Arm("linear", "the name of a reference", "Identity")]
RATES = ([], [0.1, 0.1], [-1.0], [math.nan])
SHARING = (*NAME, (0, 1), (1, 1), (1.0,))
START = (*NAME, keras.initializers.Ones())


def case(function, right=None, /, **wrong):
    """Return a case for each argument: the function, right arguments, wrong values."""
    return [
        pytest.param(
            function, right or {}, name, values, id=f"{function.__name__}-{name}"
        )
        for name, values in wrong.items()
    ]


MODELS = {"model": None}  # the test gives one
CASES = [
    *case(constraints.Interval, {"maximum": 1}, minimum=(*BOUND, 2)),
    *case(initializers.FunctionStart, function=NAME),
    *case(
        initializers.PiecewiseLinearStart,
        LINES,
        knots=(*NUMBERS, [0.0, 1.0]),
        slopes=(*NUMBERS, [1.0, math.inf]),
        value=NUMBER,
    ),
    *case(
        initializers.PiecewiseLinearStart,
        {"slopes": [1, 2, 3]},
        knots=([1, 0], [0, 0]),
    ),
    *case(initializers.RandomStart, seed=(*SEED, 1.5), rescale=FLAG),
    *case(initializers.get, identifier=(*START, initializers.GStart)),
    *case(layers.VAFActivation, k=COUNT, g=NAME, sharing=SHARING),
    *case(layers.VAFActivation, initialization=START, data_format=OPTIONAL_NAME),
    *case(layers.ActivationEnsemble, momentum=(*NUMBER, -0.1, 1.1)),
    *case(layers.XIELU, beta=NUMBER),
    *case(layers.MLPConv, {"kernel_size": 1}, filters=(*NAMES, (), (4, 0), (1.5,))),
    *case(layers.KAF, D=COUNT, boundary=BOUNDARY, train_gamma=FLAG),
    *case(layers.APL, S=COUNT, seed=SEED),
    *case(layers.ABU, functions=NAMES, normalization=OPTIONAL_NAME),
    *case(layers.MixedActivation, gated=FLAG, sharing=OPTIONAL_NAME),
    *case(layers.PolynomialActivation, degree=COUNT),
    *case(layers.Rational, numerator_degree=COUNT, initialization=NAME),
    *case(layers.SplineActivation, q=COUNT, boundary=BOUNDARY, initialization=NAME),
    *case(layers.Maxout, k=COUNT),
    *case(models.mlp, DENSE, inputs=COUNT, hidden=NAMES, seed=SEED),
    *case(paper.cnet, IMAGES, input_shape=NAMES, filters=NAMES, seed=SEED),
    *case(models.convert, MODELS, model=MODEL, k=OPTIONAL_COUNT, inplace=FLAG),
    *case(models.convert, MODELS, sharing=NAME),
    *case(
        models.simplify, MODELS | {"tolerance": 0.1}, model=MODEL, tolerance=POSITIVE
    ),
    *case(models.to_vaf, layer=MODEL),
    *case(models.nearest, layer=MODEL),
    *case(models.freeze, model=MODEL),
    *case(models.train_only_activations, MODELS, model=MODEL, inplace=FLAG),
    *case(optimizers.Rprop, eta_plus=(*POSITIVE, 1.0), eta_minus=(*POSITIVE, 1.0)),
    *case(optimizers.Rprop, {"min_step": 1.0}, max_step=(*POSITIVE, 0.5)),
    *case(optimizers.Rprop, min_step=POSITIVE, variant=NAME, learning_rate=(0, -1.0)),
    *case(
        optimizers.activations_apart,
        MODELS | {"optimizer": "adam"},
        model=MODEL,
        learning_rate_factor=POSITIVE,
    ),
    *case(regularizers.SlopeVariation, factor=NUMBER),
    *case(regularizers.Damping, factor=NUMBER),
    *case(
        training.split,
        {"y": ROWS[1]},
        y=([], [0, 1, 2]),
        fraction=POSITIVE,
        seed=SEED,
        rows=OPTIONAL_COUNT,
    ),
    *case(
        callbacks.ActivationMonitor,
        {"data": ROWS[0]},
        picture=(3.5, []),
        rows=COUNT,
        every=COUNT,
    ),
    *case(datasets.Column, {"name": "a"}, kind=NAME),
    *case(datasets.Dataset, DATASET, task=NAME, x=NAMES, y=([[1]], *NAMES)),
    *case(datasets.Preprocessing, targets=NAME),
    *case(datasets.find, name=NAME),
    *case(datasets.load, name=NAME),
    *case(datasets.predict_table, {"source": TABLE}, model=MODEL),
    *case(
        datasets.read_table,
        {"source": "new.csv", "target": "y"},
        source=(3.5, None, [[1]], ROWS[0]),
        task=OPTIONAL_NAME,
        dates=OPTIONAL_NAME,
    ),
    *case(
        experiments.Arm,
        {"name": "a", "title": "A", "layer": "ReLU"},
        name=NO_TEXT,
        title=NO_TEXT,
        layer=(*NAME, "deserialize"),
        arguments=({"g": np.tanh},),
    ),
    *case(experiments.Recipe, hidden=NAMES, learning_rates=RATES, epochs=COUNT),
    *case(experiments.Recipe, folds=COUNT, missing=NAME, targets=NAME),
    *case(experiments.Recipe, patience=OPTIONAL_COUNT, batch_size=OPTIONAL_COUNT),
    *case(experiments.Recipe, validation_fraction=(*POSITIVE, 1)),
    *case(experiments.Recipe, test_size=(0, -1, 1.5, True, "a fifth")),
    *case(experiments.Recipe, optimizer_arguments=({"learning_rate": 1}, {"a": 1j})),
    *case(
        experiments.compare,
        {"data": SMALL},
        activations=(["relu"], "no such", "relu,relu", LINEAR),
        target=("y",),
        recipe=("quick", 3.5),
        seeds=SEEDS,
        quick=FLAG,
        jobs=COUNT,
    ),
    *case(
        experiments.refit,
        {"dataset": SMALL, "arm": LINEAR[0], "recipe": RECIPE, "epochs": 1}
        | {"learning_rate": 0.1},
        learning_rate=POSITIVE,
        epochs=COUNT,
        seed=SEED,
    ),
    *case(experiments.find_arms, names=(*OPTIONAL_NAME, None, ["relu"])),
    *case(experiments.holm, p_values=(*NUMBERS, [-0.1], [0.5, 1.1])),
    *case(
        experiments.corrected_interval,
        {"differences": [1.0, 2.0], "test_fraction": 0.1},
        differences=DIFFERENCES,
        test_fraction=FRACTION,
    ),
    *case(fit_classifier, hidden=(*NAMES, 4), k=COUNT, activation=(*NAME, np.tanh)),
    *case(fit_regressor, learning_rate=POSITIVE, epochs=COUNT),
    *case(fit_regressor, batch_size=OPTIONAL_COUNT, patience=OPTIONAL_COUNT),
    *case(fit_regressor, validation_fraction=(0, 1, -1.0, *BOUND)),
    *case(tuners.CrossValidated, tuner_class=NAME),
    *case(tuners.search, {"data": SMALL}, recipe=("quick", 3.5), seed=SEED),
    *case(tuners.SearchSpace, k=(*NAMES, [], [0], ["three"], [3, 3])),
    *case(tuners.SearchSpace, g=CHOICES, sharing=CHOICES, initialization=CHOICES),
    *case(visualization.plot_activation, layer=(*MODEL, keras.layers.ReLU(), UNBUILT)),
    *case(visualization.plot_activations, model=(*MODEL, PLAIN)),
    *case(visualization.plot_epochs, records=([], {}, 3.5, "no such", [3])),
    *case(train, MODELS, model=MODEL, epochs=COUNT),
]


@pytest.mark.parametrize(("function", "right", "name", "values"), CASES)
def test_wrong_arguments_are_refused_with_what_was_received(
    function, right, name, values, model
):
    given = {key: model if key == "model" else right[key] for key in right}
    for value in values:
        with pytest.raises(ValueError, match="Received"):
            function(**given | {name: value})
            pytest.fail(f"{name}={value!r} was accepted.")
