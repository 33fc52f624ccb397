"""The search space of a VAF: names, choices, and the layer that is drawn."""

import itertools
import json
import os
import socket
import subprocess
import sys

import keras
import keras_tuner
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.tuners import SearchSpace, activation

pytestmark = [
    pytest.mark.backend("torch"),  # which compiles nothing
    # Its best models have no state of the optimizer.
    pytest.mark.filterwarnings("ignore:Skipping variable loading for optimizer"),
]

ORACLES = ("RandomSearch", "GridSearch", "BayesianOptimization", "Hyperband")


@keras.saving.register_keras_serializable(package="test_space")
def bump(x):
    return keras.ops.exp(-x * x)


@pytest.fixture
def hp():
    return keras_tuner.HyperParameters()


def test_every_point_of_the_papers_space_can_be_built(hp):
    activation(hp)
    choices = {choice.name: choice.values for choice in hp.space}
    assert choices["k"] == [3, 5, 7, 9, 11, 15]
    assert list(choices) == ["k", "g", "sharing", "initialization"]
    assert choices["initialization"] == ["g", "random", "relu"]
    for values in itertools.product(*choices.values()):
        drawn = dict(zip(choices, values, strict=True))
        hp.values |= drawn
        layer = activation(hp)
        outputs = keras.ops.convert_to_numpy(layer(np.ones((2, 3))))
        assert np.all(np.isfinite(outputs))
        assert {name: layer.get_config()[name] for name in drawn} == drawn


def test_a_prefix_makes_hyper_parameters_of_its_own_and_arguments_make_none(hp):
    hp.values |= {"first_k": 5, "second_k": 9}
    layers = [activation(hp, prefix) for prefix in ("first_", "second_")]
    assert [layer.k for layer in layers] == [5, 9]
    assert len(hp.space) == 8
    hp.Fixed("k", 4)  # which is not a choice
    layer = activation(hp, g="tanh", name="mine")
    assert (layer.k, layer.g, layer.name) == (4, keras.activations.tanh, "mine")
    searched = [choice.name for choice in hp.space[8:]]
    assert searched == ["k", "sharing", "initialization"]
    assert hp.Choice("kind", ["relu", "vaf"]) == "relu"
    with hp.conditional_scope("kind", ["vaf"]):  # inactive choices make a layer, too
        assert activation(hp, "third_").k == 3


def test_axes_and_objects_are_searched_by_name(hp):
    space = SearchSpace(
        k=(2, 20),
        g=(bump, "relu"),
        sharing=["layer", (1, 2)],
        initialization=(RandomStart(seed=7), "relu"),
    )
    names = {
        "k": 20,
        "g": "bump (test_space)",
        "sharing": "(1, 2)",
        "initialization": "RandomStart(seed=7, rescale=False)",
    }
    hp.values |= names

    layer = activation(hp, space=space)

    assert (layer.k, layer.g, layer.sharing) == (20, bump, (1, 2))
    assert layer.initialization.get_config() == {"seed": 7, "rescale": False}
    for name, chosen in names.items():
        assert chosen in space.choices(name)


def data():
    x = np.random.default_rng(0).normal(size=(12, 2)).astype("float32")
    return x, x @ np.array([1.0, -2.0], "float32")


def search(kind, folder, space, **options):
    """Search with a tuner of KerasTuner for a network with a VAF, and return it."""

    def build(hp):
        vaf = activation(hp, space=space, sharing="layer")
        layers = [keras.Input((2,)), keras.layers.Dense(3), vaf, keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile("adam", "mse")
        return model

    few = {"max_epochs": 2} if kind == "Hyperband" else {"max_trials": 2}
    tuner = getattr(keras_tuner, kind)(
        build, objective="val_loss", seed=1, directory=folder, **(few | options)
    )
    tuner.oracle.verbose = 0
    tuner.search(*data(), validation_data=data(), epochs=1, verbose=0)
    return tuner


@pytest.mark.parametrize("kind", ORACLES)
def test_the_best_model_of_each_tuner_is_saved_and_reloaded(tmp_path, kind):
    """The first function that is drawn, or the only one, is an own one."""
    x, _ = data()
    g = ("test_space>bump",) if kind == "RandomSearch" else (bump, "relu")
    space = SearchSpace(k=(2, 3), g=g, initialization=("g",))
    tuner = search(kind, tmp_path, space)

    drawn = [trial.hyperparameters["g"] for trial in tuner.oracle.trials.values()]
    assert set(drawn) <= set(space.choices("g"))
    model = tuner.get_best_models()[0]
    model.save(tmp_path / "best.keras")
    again = keras.saving.load_model(tmp_path / "best.keras")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.layers[1].get_config() == model.layers[1].get_config()
    assert model.layers[1].g is bump or len(g) > 1


def distributed(folder):
    """Run one process of a distributed search; the test sets its environment."""
    space = SearchSpace(k=(2, 3, 5), g=("relu", "tanh"), initialization=("g",))
    search("RandomSearch", folder, space, max_trials=4, project_name="p")


@pytest.mark.nightly
def test_a_chief_and_two_workers_share_a_search(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    where = {"KERASTUNER_ORACLE_IP": "127.0.0.1", "KERASTUNER_ORACLE_PORT": port}
    command = [sys.executable, "-m", "tests.tuners.test_space", str(tmp_path)]
    started = [
        subprocess.Popen(command, env=os.environ | where | {"KERASTUNER_TUNER_ID": who})
        for who in ("chief", "tuner0", "tuner1")
    ]
    try:
        assert [process.wait(300) for process in started[1:]] == [0, 0]
        assert started[0].wait(60) == 0
    finally:
        for process in started:
            process.kill()
    trials = [
        json.loads(path.read_text()) for path in tmp_path.glob("p/trial_*/trial.json")
    ]
    assert [trial["status"] for trial in trials] == ["COMPLETED"] * 4


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({"k": ()}, r"k=\(\)"),
        ({"g": "relu"}, "g='relu'"),
        ({"k": 3}, "k=3"),
        ({"k": (3, 3)}, r"k=\(3, 3\)"),
        ({"k": (0,)}, "k=0"),
        ({"g": [lambda x: x]}, "lambda"),
    ],
)
def test_a_space_without_a_choice_is_refused(arguments, received):
    with pytest.raises(ValueError, match=f"Received: .*{received}"):
        SearchSpace(**arguments)


if __name__ == "__main__":
    distributed(sys.argv[1])
