"""The estimators behave as scikit-learn's own."""

import pickle
import sys

import keras
import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import StackingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from keras_vaf.initializers import RandomStart
from keras_vaf.sklearn import VAFClassifier, VAFRegressor, training
from keras_vaf.training import split
from keras_vaf.training.network_trainer import NetworkTrainer
from keras_vaf.visualization import plot_activations

EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "A repeated row is in other mini-batches than a row of weight 2, as in "
        "scikit-learn's own mini-batch networks."
    )
}
"""Names and reasons of the checks that the estimators are expected to fail."""

ARGUMENTS = {"hidden": (20,), "epochs": 60, "learning_rate": 0.01}
"""Arguments with which the checks take seconds."""

QUICK = {"hidden": (8,), "epochs": 30, "random_state": 0}


@parametrize_with_checks(
    [VAFClassifier(**ARGUMENTS), VAFRegressor(**ARGUMENTS)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILED_CHECKS,
)
@pytest.mark.backend("torch")  # PyTorch compiles nothing
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_it_learns_the_classes_of_iris(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = VAFClassifier(hidden=(10,), random_state=0).fit(X, names)
    assert classifier.score(X, names) > 0.95
    chances = classifier.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_array_equal(
        classifier.classes_[chances.argmax(axis=1)], classifier.predict(X)
    )


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_predictions_have_the_units_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    regressor = VAFRegressor(hidden=(10,), random_state=0).fit(X, 1000 * y + 5)
    assert regressor.score(X, 1000 * y + 5) > 0.4


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize("classes", [False, True])
def test_validation_rows_do_not_train_the_network(iris, classes):
    X, labels = iris
    y = labels if classes else X @ np.array([1.0, -2.0, 0.5, 3.0]) + labels
    seed = np.random.RandomState(0).randint(2**31 - 1)
    rows = training_rows, validation_rows = split(y, 0.1, seed, stratify=classes)

    def weights(moved):
        """Return the network after one epoch, with the weights of some rows moved."""
        sample_weight = np.linspace(0.5, 1.5, len(X))
        sample_weight[moved] = sample_weight[moved[::-1]]
        kind = VAFClassifier if classes else VAFRegressor
        estimator = kind(**{**QUICK, "epochs": 1})
        return estimator.fit(X, y, sample_weight).network_.get_weights()

    plain = weights(np.array([], int))
    moved = [weights(part) for part in rows]
    for one, by_training, by_validation in zip(plain, *moved, strict=True):
        np.testing.assert_allclose(one, by_validation, atol=1e-7)
        assert not np.allclose(one, by_training, atol=1e-6)
    assert len(validation_rows) == 15
    assert not set(training_rows) & set(validation_rows)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_validation_rows_judge_the_epochs(iris):
    X, labels = iris
    y = X @ np.array([1.0, -2.0, 0.5, 3.0]) + labels
    seed = np.random.RandomState(0).randint(2**31 - 1)
    _, rows = split(y, 0.1, seed, stratify=False)
    regressor = VAFRegressor(**QUICK).fit(X, y)
    errors = (regressor.predict(X[rows]) - y[rows]) / y.std()
    expected = pytest.approx(np.mean(errors**2), rel=1e-4)
    assert regressor.history_.best["val_loss"] == expected


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_equal_seeds_give_equal_networks_and_others_do_not(iris):
    one, same, other = (
        VAFClassifier(**{**QUICK, "random_state": seed}).fit(*iris)
        for seed in (1, 1, 2)
    )
    X = iris[0]
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))
    assert not np.allclose(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.backend("torch")
class TestModelSelection:
    def test_grid_search(self, iris):
        grid = {"k": [2, 3], "g": ["relu", "tanh"], "initialization": ["g", "random"]}
        search = GridSearchCV(VAFClassifier(**QUICK), grid, cv=2).fit(*iris)
        assert search.best_score_ > 0.6
        assert len(search.cv_results_["params"]) == 8

    def test_cross_validation(self, iris):
        assert cross_val_score(VAFClassifier(**QUICK), *iris, cv=3).mean() > 0.6

    def test_halving_stacking_and_one_against_the_rest(self, iris):
        X, y = iris
        quick = {**QUICK, "learning_rate": 0.03}
        halving = HalvingGridSearchCV(
            VAFClassifier(**quick), {"k": [2, 3]}, cv=2, min_resources=50
        )
        assert halving.fit(X, y).score(X, y) > 0.8
        vaf = [("vaf", VAFRegressor(**quick))]
        stacked = StackingRegressor(vaf, LinearRegression(), cv=2)
        # The rows are sorted by class, so each half is predicted from other classes.
        assert stacked.fit(X[:, :3], X[:, 3]).score(X[:, :3], X[:, 3]) > 0.5
        rest = OneVsRestClassifier(VAFClassifier(**quick)).fit(X, y)
        assert rest.score(X, y) > 0.8

    def test_mixed_columns(self):
        pandas = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        X = pandas.DataFrame(
            {"size": rng.normal(size=90), "colour": rng.choice(["red", "blue"], 90)}
        )
        y = X["size"] + 2 * (X["colour"] == "red")
        encode = ColumnTransformer(
            [("text", OneHotEncoder(handle_unknown="ignore"), ["colour"])],
            remainder="passthrough",
        )
        pipeline = make_pipeline(encode, VAFRegressor(hidden=(8,), random_state=0))
        assert pipeline.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("kind", [VAFClassifier, VAFRegressor])
def test_a_pickled_estimator_predicts_the_same(kind, iris):
    estimator = kind(sharing="channel", initialization="random", **QUICK).fit(*iris)
    again = pickle.loads(pickle.dumps(estimator))
    X = iris[0]
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    assert again.get_params() == estimator.get_params()
    assert again.history_.epochs == estimator.n_iter_
    again.fit(*iris)  # and it can be trained again


@pytest.mark.backend("torch")
def test_fits_of_one_architecture_share_a_compiled_trainer(iris, monkeypatch):
    made = []

    def make(*arguments, **named):
        made.append(arguments)
        return NetworkTrainer(*arguments, **named)

    monkeypatch.setattr(training, "_TRAINERS", {})
    monkeypatch.setattr(training, "NetworkTrainer", make)
    X, y = iris
    alone = VAFClassifier(**QUICK).fit(X, y).predict_proba(X)
    VAFClassifier(**QUICK | {"epochs": 3}, learning_rate=0.1).fit(X[20:], y[20:])
    VAFClassifier(**QUICK, initialization="random", g="silu").fit(X, y)
    assert len(made) == 1
    np.testing.assert_array_equal(
        VAFClassifier(**QUICK).fit(X, y).predict_proba(X), alone
    )
    VAFClassifier(**QUICK, g="tanh").fit(X, y)
    assert len(made) == 2


@pytest.mark.backend("jax")
@pytest.mark.parametrize("classes", [False, True])
def test_rows_that_jax_adds_change_no_estimator(iris, monkeypatch, classes):
    X, labels = iris
    kind = VAFClassifier if classes else VAFRegressor
    y = labels if classes else X @ np.array([1.0, -2.0, 0.5, 3.0])
    weights = np.linspace(0.5, 1.5, len(X))

    def fit(**arguments):
        return kind(**{**QUICK, **arguments}).fit(X[7:], y[7:], weights[7:])

    def alone(*arguments, pad):
        return NetworkTrainer(*arguments)

    for arguments in ({}, {"batch_size": None}, {"validation_fraction": None}):
        padded = fit(**arguments)
        with monkeypatch.context() as patch:
            patch.setattr(training, "_TRAINERS", {})
            patch.setattr(training, "NetworkTrainer", alone)
            plain = fit(**arguments)
        assert padded.history_.best_epoch == plain.history_.best_epoch
        pairs = zip(
            padded.network_.get_weights(), plain.network_.get_weights(), strict=True
        )
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_a_prediction_does_not_depend_on_the_other_rows(iris):
    X, y = iris
    regressor = VAFRegressor(**QUICK).fit(X, y)
    rows = np.resize(X, (520, 4))
    all_rows = regressor.predict(rows)
    for count in (1, 64, 65, 520):
        np.testing.assert_allclose(
            regressor.predict(rows[:count]), all_rows[:count], rtol=1e-5, atol=1e-6
        )


@pytest.mark.backend("torch")
def test_a_limited_number_of_trainers_is_kept(monkeypatch):
    monkeypatch.setattr(training, "_TRAINERS", {})
    monkeypatch.setattr(training, "_MOST_TRAINERS", 2)
    monkeypatch.setattr(training, "NetworkTrainer", lambda *_, **__: object())
    for k in range(1, 5):
        architecture = training.Architecture(2, 1, (2,), k, "relu", "layer", False)
        with training._lent_trainer(architecture, None, None):
            pass
    assert [key[0].k for key in training._TRAINERS] == [3, 4]


@pytest.mark.backend("torch")
def test_a_clone_has_all_parameters_and_is_not_fitted(iris):
    start = RandomStart(seed=1)
    estimator = VAFRegressor(k=5, initialization=start, **QUICK).fit(*iris)
    copy = clone(estimator)
    assert copy.get_params()["k"] == 5
    assert copy.initialization.get_config() == start.get_config()
    with pytest.raises(NotFittedError):
        copy.predict(iris[0])


@pytest.mark.backend("torch")
def test_rows_of_weight_0_have_no_part(iris):
    X, y = iris
    weights = (y != 2).astype(float)
    weighted = VAFClassifier(**QUICK).fit(X, y, sample_weight=weights)
    assert 2 not in weighted.predict(X[:100])
    np.testing.assert_allclose(
        weighted.network_inputs(X[:100]).mean(axis=0), 0, atol=1e-6
    )
    with pytest.raises(ValueError, match="numbers of at least 0"):
        VAFClassifier(**QUICK).fit(X, y, sample_weight=weights - 0.5)


@pytest.mark.backend("torch")
def test_a_heavy_class_is_predicted_more_often(iris):
    X, y = iris
    light, heavy = (
        VAFClassifier(**QUICK).fit(X, y, sample_weight=np.where(y == 2, weight, 1.0))
        for weight in (0.02, 50.0)
    )
    counts = [(each.predict(X) == 2).sum() for each in (light, heavy)]
    assert counts[0] < 50 < counts[1]


@pytest.mark.backend("torch")
def test_its_functions_can_be_plotted(iris):
    pytest.importorskip("matplotlib")
    X, y = iris
    classifier = VAFClassifier(hidden=(6, 4), epochs=3, random_state=0).fit(X, y)
    panels = plot_activations(classifier, X)
    assert len(panels) == len(plot_activations(classifier)) == 2


@pytest.mark.backend("torch")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"g": "softmax"}, "softmax"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"patience": 0}, "patience=0"),
        ({"validation_fraction": 0.0}, "validation_fraction=0.0"),
        ({"validation_fraction": 1.0}, "above 0 and below 1"),
        ({"hidden": 4}, "`hidden` must be a sequence"),
        ({"learning_rate": 1e38, **QUICK}, "Try a lower learning rate"),
    ],
)
def test_bad_parameters_are_refused_by_fit(iris, parameters, message):
    estimator = VAFClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        estimator.fit(*iris)


@pytest.mark.backend("torch")
def test_without_validation_rows_all_rows_are_trained_on(iris):
    X, y = iris
    classifier = VAFClassifier(validation_fraction=None, batch_size=None, **QUICK)
    classifier.fit(X, y)
    assert classifier.history_.epochs == 30
    assert classifier.score(X, y) > 0.6


@pytest.mark.backend("torch")
def test_without_scikit_learn_the_line_that_installs_it_is_named(monkeypatch):
    for name in list(sys.modules):
        if name.startswith("keras_vaf.sklearn"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"pip install 'keras-vaf\[sklearn\]'"):
        __import__("keras_vaf.sklearn")


def test_the_network_is_a_keras_model(iris):
    classifier = VAFClassifier(**QUICK).fit(*iris)
    assert isinstance(classifier.network_, keras.Model)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize("value", [1e300, -1e300])
@pytest.mark.parametrize("kind", [VAFClassifier, VAFRegressor])
def test_inputs_beyond_float32_raise_a_sentence(kind, value):
    x = np.random.default_rng(0).normal(size=(40, 2))
    y = (x[:, 0] > 0).astype("int64")
    model = kind(hidden=(4,), epochs=1, random_state=0).fit(x, y)
    x[3, 1] = value
    with pytest.raises(ValueError, match="row 3 with the largest value"):
        model.predict(x)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize("argument", ["X", "y"])
def test_training_rows_without_a_finite_deviation_raise_a_sentence(argument):
    """Scaled by an infinite deviation, the other numbers of a column would be 0."""
    rng = np.random.default_rng(0)
    rows = {"X": rng.normal(size=(40, 2)), "y": rng.normal(size=40)}
    model = VAFRegressor(hidden=(4,), epochs=1, random_state=0)
    for value in (1e100, -1e100):  # float64 holds its square
        rows[argument].flat[3] = value
        assert np.isfinite(model.fit(**rows).predict(rows["X"])).all()
    rows[argument].flat[3] = -1e300
    with pytest.raises(ValueError, match=f"`{argument}` must .* up to 1e[+]300"):
        model.fit(**rows)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_several_targets_are_learned_together():
    X = np.linspace(-2, 2, 200)[:, None]
    y = np.column_stack([np.sin(X[:, 0]), 1000 + 50 * X[:, 0]])
    regressor = VAFRegressor(hidden=(16,), random_state=0).fit(X, y)
    assert regressor.predict(X).shape == (200, 2)
    assert regressor.score(X[:, :1], y) > 0.95
    one = VAFRegressor(hidden=(4,), epochs=1).fit(X, y[:, :1])
    assert one.predict(X).shape == (200, 1)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_partial_fit_goes_on(iris):
    X, y = iris
    classifier = VAFClassifier(hidden=(16,), random_state=0, learning_rate=0.01)
    with pytest.raises(ValueError, match=r"needs `classes`.*Received: classes=None"):
        classifier.partial_fit(X, y)
    classifier.partial_fit(X[:100], y[:100], classes=[0, 1, 2])  # no class 2 yet
    first = classifier.network_
    odds = classifier.predict_proba(X[:100])
    assert odds.shape == (100, 3) and classifier.n_iter_ == 1
    loss = -np.log(odds[np.arange(100), y[:100]]).mean()  # no row is left out
    np.testing.assert_allclose(classifier.history_.metrics["val_loss"], [loss], 1e-4)
    for _ in range(30):
        classifier.partial_fit(X, y)
    assert classifier.network_ is first
    assert classifier.score(X, y) > 0.9
    for arguments in ({"classes": [0, 1]}, {}):
        with pytest.raises(ValueError, match="Received"):
            classifier.partial_fit(X, y + 1, **arguments)

    regressor = VAFRegressor(hidden=(16,), random_state=0, learning_rate=0.01)
    for _ in range(40):
        regressor.partial_fit(X[:, :3], X[:, 3])
    assert regressor.score(X[:, :3], X[:, 3]) > 0.8


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_a_search_over_vaf_and_relu(iris):
    X, y = iris
    search = GridSearchCV(
        VAFClassifier(hidden=(4,), epochs=3, random_state=0),
        {"activation": ["vaf", "relu"]},
        cv=2,
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 2
    relu = VAFClassifier(hidden=(4,), epochs=1, activation="relu").fit(X, y).network_
    assert [type(layer).__name__ for layer in relu.layers[1:2]] == ["Activation"]
    with pytest.raises(ValueError, match="Did you mean 'relu'"):
        VAFClassifier(activation="rellu").fit(X, y)
    for wrong in (None, 3, np.tanh, ["relu"]):
        with pytest.raises(ValueError, match="Received: activation="):
            VAFClassifier(activation=wrong).fit(X, y)


@pytest.mark.parametrize("kind", [VAFClassifier, VAFRegressor])
def test_a_misspelt_argument_is_named(kind):
    with pytest.raises(ValueError, match=r"Did you mean 'hidden'\? Received: hidde=3"):
        kind(hidde=3)
