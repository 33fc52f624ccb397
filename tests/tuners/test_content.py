"""What a search hands to its user, against networks trained in another way."""

import keras
import numpy as np
import pytest
from scipy import stats

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf.training import fold_rows, train
from keras_vaf.training.divisions import hold_out
from keras_vaf.tuners import dataset_search, ranked, search_settings
from keras_vaf.tuners.baselines import gain, row_errors, search_verdict
from keras_vaf.tuners.dataset_search import DatasetSearch
from tests.reference_training import standardised, trained_by_batches

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

FOLDS, EPOCHS, SEED = 2, 5, 0


@pytest.fixture(scope="module")
def table():
    """60 rows of a regression with a long tail, so that folds differ in scale."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(0.0, 1.5, (60, 3)).astype("float32")
    y = (1000 + 10 * np.log(x[:, 0])).astype("float32")
    return Dataset("small", "regression", x, y, ("a", "b", "c"))


@pytest.fixture(scope="module")
def found(table, tmp_path_factory):
    """A finished search, its tuner and the rows of the search."""
    folder = tmp_path_factory.mktemp("search")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_settings, "open_dataset", lambda *arguments: table)
        patch.setattr(
            keras.Model, "fit", None, raising=False
        )  # no other loop than that of the trials
        options = {"folds": FOLDS, "hidden": (4,), "epochs": EPOCHS, "seed": SEED}
        settings = search_settings.Settings.of("small", None, 2, "random", **options)
        search = DatasetSearch(settings, folder)
        tuner = search.tuner()
        tuner.oracle.verbose = 0
        search.run(tuner)
        search.finish(tuner, {})
    rows, _ = hold_out(table.y, 0.2, SEED, stratify=False)
    return folder, tuner, rows


def test_a_fold_is_scaled_on_its_training_rows(table, found):
    _, tuner, rows = found
    x, y = table.x[rows], standardised(table.y[rows], slice(None))
    folds = fold_rows(y, FOLDS, SEED + 1, stratify=False, validation_fraction=None)
    for result in tuner.results():
        hyperparameters = tuner.oracle.trials[result.trial].hyperparameters
        for fold, (training, held, _) in enumerate(folds):
            scaled = standardised(x, training)
            model = tuner._training.build(hyperparameters, fold, attempt=0)
            alone = train(
                *(model, scaled[training], y[training], (scaled[held], y[held])),
                EPOCHS,
            )
            assert result.fold_epochs[fold] == alone.best_epoch
            np.testing.assert_allclose(
                result.fold_scores[fold], alone.best["val_loss"], rtol=1e-4
            )


def test_best_network_predicts_as_one_trained_on_all_rows(table, found):
    folder, tuner, rows = found
    best = ranked(tuner.results(), "min")[0]
    hyperparameters = tuner.oracle.trials[best.trial].hyperparameters
    network = tuner._training.build(hyperparameters, FOLDS, attempt=0)
    x = standardised(table.x, rows)
    y = table.y[rows]
    targets = standardised(y, slice(None))
    trained_by_batches(network, x[rows], targets, best.epochs, None, seed=0)

    model = keras.saving.load_model(folder / "best.keras", safe_mode=True)
    encoder = encoder_of(model)
    inputs = {column.name: table.x[:, n] for n, column in enumerate(encoder.columns)}
    predicted = model.predict(encoder.encode(inputs), verbose=0)

    expected = network.predict(x, verbose=0) * y.std() + y.mean()
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(predicted, expected, rtol=1e-5)


def test_the_search_uses_no_test_row(table, found):
    _, tuner, rows = found
    seen = keras.tree.flatten(tuner._task.x)[0]
    np.testing.assert_array_equal(seen, table.x[rows])
    assert len(rows) == 48
    assert dataset_search.TRIALS == "trials"


@pytest.mark.parametrize("classes", [False, True])
def test_the_interval_of_a_gain_is_one_of_95_percent(classes):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400) if classes else rng.normal(size=400)
    ours, theirs = (_outputs(rng, y, noise, classes) for noise in (0.9, 1.2))
    errors = [row_errors(y, outputs, classes) for outputs in (ours, theirs)]

    difference, (low, high) = gain(*errors, classes)

    def statistic(ours, theirs, axis=-1):
        if classes:
            return theirs.mean(axis) - ours.mean(axis)
        return np.sqrt(theirs.mean(axis)) - np.sqrt(ours.mean(axis))

    reference = stats.bootstrap(
        errors, statistic, paired=True, method="percentile", rng=2, n_resamples=5_000
    )
    width = np.ptp(reference.confidence_interval)
    np.testing.assert_allclose(
        (low, high), reference.confidence_interval, atol=0.1 * width
    )
    assert difference == pytest.approx(statistic(*errors))
    assert 3 < width / reference.standard_error < 5  # about 2 * 1.96
    found = {"gain": difference, "interval": (low, high)}
    said = search_verdict({"relu": found}, "accuracy" if classes else "rmse")
    assert f"95% interval {low:+.3g} to {high:+.3g}" in said


def _outputs(rng, y, noise, classes):
    """Return outputs that predict y with an error."""
    outputs = y + noise * rng.normal(size=len(y))
    return np.stack([1 - outputs, outputs], axis=1) if classes else outputs[:, None]
