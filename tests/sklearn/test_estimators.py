"""The estimators behave as scikit-learn's own."""

import pickle

import keras
import numpy as np
import pandas
import pytest
import scipy.sparse

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from keras_vaf.sklearn import VAFClassifier, VAFRegressor, base
from keras_vaf.training import split, train
from keras_vaf.visualization import plot_activations

MINI_BATCHES = {"hidden": (20,), "epochs": 60, "learning_rate": 0.01}
"""Arguments with which the checks take seconds."""

ALL_ROWS = {"hidden": (20,), "g": "tanh", "epochs": 1, "learning_rate": 0.01}
ALL_ROWS |= dict.fromkeys(("batch_size", "validation_fraction", "patience"))
"""Arguments with which a row of weight 2 must equal a repeated row.

Adam divides by the size of a gradient. Over many epochs, and where a gradient is nearly
0 by chance, it makes differences of 1e-7 from rounding, with fixed activations, too.
"""

EXPECTED_FAILED_CHECKS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "A repeated row is in other "
    "mini-batches than a row of weight 2, as in scikit-learn's own networks."
    for kind in ("dense", "sparse")
}

QUICK = {"hidden": (8,), "epochs": 30, "random_state": 0}


@parametrize_with_checks(
    [VAFClassifier(**MINI_BATCHES), VAFRegressor(**MINI_BATCHES)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILED_CHECKS,
)
@pytest.mark.backend("torch")  # PyTorch compiles nothing
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def double_precision():
    """A check that allows differences of 1e-7 cannot use float32."""
    for dtype in ("float64", "float32"):
        keras.config.set_floatx(dtype)
        keras.config.set_dtype_policy(dtype)
        if dtype == "float64":
            yield


@pytest.mark.parametrize("kind", [VAFClassifier, VAFRegressor])
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_sample_weight_equivalence_on_dense_data,
        estimator_checks.check_sample_weight_equivalence_on_sparse_data,
    ],
)
@pytest.mark.backend("torch")
@pytest.mark.usefixtures("double_precision")
def test_a_row_of_weight_2_is_two_rows_and_one_of_weight_0_is_none(kind, check):
    check(kind.__name__, kind(**ALL_ROWS))


@pytest.mark.backend("torch")
def test_a_row_of_weight_0_may_hold_anything(iris):
    """Neither the scaling nor the validation rows see it."""
    X, _ = iris
    weights = np.ones(150)
    weights[::7] = 0
    wild, target = X.copy(), X @ np.ones(4)
    wild[::7], target[::7] = 1e9, -1e12
    given = VAFRegressor(**QUICK).fit(wild, target, weights)
    removed = VAFRegressor(**QUICK).fit(X[weights > 0], target[weights > 0])
    np.testing.assert_array_equal(given.predict(X), removed.predict(X))
    with pytest.raises(ValueError, match="numbers of at least 0"):
        VAFRegressor(**QUICK).fit(X, target, weights - 0.5)


@pytest.mark.backend("torch")
def test_a_sparse_matrix_is_its_array_or_too_large(iris):
    X, y = iris
    sparse = scipy.sparse.csr_matrix(X)
    one, other = (VAFClassifier(**QUICK).fit(each, y) for each in (X, sparse))
    np.testing.assert_array_equal(other.predict_proba(sparse), one.predict_proba(X))
    wide = scipy.sparse.csr_matrix((150, 10**6))
    with pytest.raises(ValueError, match=r"sparse_output=False.*\(150, 1000000\)"):
        VAFClassifier(**QUICK).fit(wide, y)


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
    best = classifier.classes_[chances.argmax(axis=1)]
    np.testing.assert_array_equal(best, classifier.predict(X))
    assert len(plot_activations(classifier, X)) == len(plot_activations(classifier))


@pytest.mark.backend("torch")
@pytest.mark.parametrize("classes", [False, True])
def test_a_tenth_of_the_rows_judges_and_does_not_train(iris, monkeypatch, classes):
    X, labels = iris
    y = labels if classes else X @ np.array([1.0, -2.0, 0.5, 3.0]) + labels
    weights = np.linspace(0.5, 1.5, len(X))
    given = {}

    def record(model, x, y, validation_data, *arguments, sample_weight, seed):
        given["training"] = x, sample_weight
        given["validation"] = validation_data[0], validation_data[2]
        return train(model, x, y, validation_data, *arguments, seed=seed)

    monkeypatch.setattr(base, "train", record)
    kind = VAFClassifier if classes else VAFRegressor
    largest = weights * 1e308  # only their ratios count
    estimator = kind(**QUICK | {"epochs": 1}).fit(X, y, largest)
    seed = np.random.RandomState(0).randint(2**31 - 1)
    rows = dict(zip(given, split(y, 0.1, seed, stratify=classes), strict=True))
    assert len(rows["validation"]) == 15
    assert sorted([*rows["training"], *rows["validation"]]) == list(range(150))
    for part, (x, weight) in given.items():
        np.testing.assert_array_equal(x, estimator.network_inputs(X[rows[part]]))
        np.testing.assert_allclose(weight, weights[rows[part]], rtol=1e-12)


@pytest.mark.backend("torch")
def test_a_grid_is_searched(iris):
    grid = [{"k": [2, 3], "initialization": ["g", "random"]}, {"activation": ["relu"]}]
    search = GridSearchCV(VAFClassifier(**QUICK), grid, cv=2).fit(*iris)
    assert search.best_score_ > 0.6
    assert len(search.cv_results_["params"]) == 5
    relu = VAFClassifier(hidden=(4,), epochs=1, activation="relu").fit(*iris).network_
    assert [type(layer).__name__ for layer in relu.layers[1:2]] == ["Activation"]


@pytest.mark.backend("torch")
def test_a_pipeline_encodes_mixed_columns():
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


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
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
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"activation": "rellu"}, "Did you mean 'relu'"),
        ({"learning_rate": 1e38, **QUICK}, "Try a lower learning rate"),
    ],
)
def test_bad_parameters_are_refused_by_fit(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        VAFClassifier(**parameters).fit(*iris)


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
