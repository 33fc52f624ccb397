"""Algorithm 2 with a user's own build(): folds, selection, scores."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.training import Trainer, cross_validate, fold_rows, train
from keras_vaf.training.seeds import independent_seeds


def classes(rows=40, seed=0):
    """Return inputs and labels that a line separates, far from the origin."""
    x = np.random.default_rng(seed).normal(size=(rows, 3))
    return x, (x @ [1.0, -2.0, 0.5] > 0).astype(int)


def build(rate=0.1, units=4):
    layers = [
        keras.Input((3,)),
        keras.layers.Dense(units, "tanh", kernel_initializer=PortableGlorotUniform(1)),
        keras.layers.Dense(2, "softmax", kernel_initializer=PortableGlorotUniform(2)),
    ]
    model = keras.Sequential(layers)
    model.compile(
        keras.optimizers.SGD(rate),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


@pytest.fixture(scope="module")
def found():
    """A cross-validation of three points on two folds."""
    grid = {"rate": [0.5, 0.001], "units": (4,)}
    return cross_validate(build, *classes(), grid, folds=2, epochs=6, batch_size=8)


def test_every_combination_is_a_point(found):
    assert found.points == ({"rate": 0.5, "units": 4}, {"rate": 0.001, "units": 4})
    assert len(found.histories) == 2
    assert [len(histories) for histories in found.histories] == [2, 2]


def test_it_is_training_and_testing_fold_by_fold(found):
    x, y = classes()
    for i, point in enumerate(found.points):
        trainer = Trainer(build(**point), batch_size=8)
        for fold, (training, validation, test) in enumerate(fold_rows(y, 2)):
            trainer.restart()
            history = trainer.train(
                x[training],
                y[training],
                (x[validation], y[validation]),
                epochs=6,
                seed=independent_seeds(0, fold, "shuffling")[0],
            )
            model = trainer.model
            scores = model.evaluate(x[test], y[test], verbose=0, return_dict=True)
            assert scores.keys() == found.scores.keys()
            for name, score in scores.items():
                assert found.scores[name][i, fold] == pytest.approx(score, abs=1e-5)
            for name, values in history.metrics.items():
                trained = found.histories[i][fold].metrics[name]
                np.testing.assert_allclose(trained, values, atol=1e-5)


def test_points_are_selected_on_validation_rows(found):
    losses = [
        [history.best["val_loss"] for history in histories]
        for histories in found.histories
    ]
    np.testing.assert_array_equal(found.selected, np.argmin(losses, axis=0))
    for name, scores in found.selected_scores.items():
        expected = [found.scores[name][found.selected[i], i] for i in range(2)]
        np.testing.assert_array_equal(scores, expected)


def test_a_point_without_a_finite_epoch_is_not_selected():
    found = cross_validate(
        build, *classes(), {"rate": [float("nan"), 0.1]}, folds=2, epochs=2
    )
    assert found.selected.tolist() == [1, 1]
    assert [history.best_epoch for history in found.histories[0]] == [0, 0]


def test_high_values_may_be_good():
    found = cross_validate(
        build,
        *classes(),
        {"rate": [0.001, 1.0]},
        folds=2,
        epochs=12,
        monitor="val_accuracy",
        mode="max",
    )
    accuracies = [
        [max(history.metrics["val_accuracy"]) for history in histories]
        for histories in found.histories
    ]
    np.testing.assert_array_equal(found.selected, np.argmax(accuracies, axis=0))


def test_preprocessing_sees_training_rows_only():
    x, y = classes()
    seen = []

    def standardise(rows):
        seen.append(rows)
        return lambda x: (x - rows.mean(axis=0)) / rows.std(axis=0)

    found = cross_validate(
        build, 5 + 3 * x, y, folds=2, epochs=3, preprocess=standardise
    )
    for fold, (training, validation, test) in enumerate(fold_rows(y, 2)):
        np.testing.assert_allclose(seen[fold], 5 + 3 * x[training], rtol=1e-6)
        scaled = (x - x[training].mean(axis=0)) / x[training].std(axis=0)
        model = build()
        validation_data = scaled[validation], y[validation]
        train(model, scaled[training], y[training], validation_data, epochs=3)
        score = model.evaluate(scaled[test], y[test], verbose=0, return_dict=True)
        assert found.scores["loss"][0, fold] == pytest.approx(score["loss"], abs=1e-5)


def test_regression_and_several_inputs():
    def build():
        inputs = [keras.Input((3,), name="a"), keras.Input((3,), name="b")]
        outputs = keras.layers.Dense(1)(keras.layers.Add()(inputs))
        model = keras.Model(inputs, outputs)
        model.compile("sgd", "mse")
        return model

    x, _ = classes()
    found = cross_validate(build, [x, x], x[:, :1], folds=3, epochs=2, stratify=False)
    assert found.points == ({},)
    assert found.scores["loss"].shape == (1, 3)
    assert found.selected.tolist() == [0, 0, 0]


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {"rate": []}}, r"at least one value .* Received: rate=\[\]"),
        ({"grid": {"rate": 0.1}}, "Received: rate=0.1"),
        ({"grid": {"rate": "high"}}, "Received: rate='high'"),
        ({"folds": 1}, "Received: folds=1"),
        ({"epochs": 0}, "Received: epochs=0"),
        ({"build": lambda: 3}, r"must return a compiled Keras model. Received: int at"),
        (
            {"build": lambda: keras.Sequential([keras.layers.Dense(1)])},
            "The model has no loss",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    x, y = classes()
    arguments = {"build": build, "x": x, "y": y, "folds": 2, "epochs": 1, **arguments}
    with pytest.raises(ValueError, match=message):
        cross_validate(**arguments)
