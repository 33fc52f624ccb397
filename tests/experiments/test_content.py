"""What a comparison hands to its user, against networks trained in another way."""

import statistics
from collections import Counter

import keras
import numpy as np
import pytest

from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf.experiments import Optimizer, Protocol, compare, find_variants
from keras_vaf.experiments.runs.rows import rows_of
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.models import mlp
from keras_vaf.training.seeds import independent_seeds
from tests.reference_training import standardised, trained_by_batches

RATES = (1e-5, 0.003, 0.02)
FOLDS, EPOCHS, BATCH = 3, 6, 8


def comparison_of(dataset, folder, **fields):
    """Compare one activation, whose default learning rate is useless."""
    variant = find_variants("vaf-random")[0]
    adam = Optimizer("Adam", {"learning_rate": 1e-6})
    fields = {"batch_size": BATCH, "optimizer": adam, "rates": RATES} | fields
    sizes = {"hidden": (5, 3), "epochs": EPOCHS, "folds": FOLDS}
    protocol = Protocol.of(dataset, variant, **sizes, **fields)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            keras.Model, "fit", None, raising=False
        )  # no other loop than that of the comparison
        return compare(dataset, [protocol], output=folder)


@pytest.fixture(scope="module")
def compared(classes, tmp_path_factory):
    return comparison_of(classes, tmp_path_factory.mktemp("classes"))


@pytest.fixture(scope="module")
def regressed(numbers, tmp_path_factory):
    return comparison_of(numbers, tmp_path_factory.mktemp("numbers"))


def raw_predictions(comparison, dataset):
    """Return the predictions of best.keras for the rows of a table."""
    model = keras.saving.load_model(comparison.folder / "best.keras", safe_mode=True)
    encoder = encoder_of(model)
    rows = {column.name: dataset.x[:, n] for n, column in enumerate(encoder.columns)}
    return model.predict(encoder.encode(rows), verbose=0)


def retrained(comparison, inputs, targets, outputs, loss):
    """Train the network of best.keras on all rows, with the values of report.json."""
    trials = [report.selected for report in comparison.reports]
    kernels, *starts = independent_seeds(0, FOLDS, "network", count=3)
    seeds = iter(starts)
    variant = find_variants("vaf-random")[0]
    network = mlp(
        inputs.shape[1],
        (5, 3),
        outputs,
        lambda: variant.build(next(seeds)),
        seed=kernels,
    )
    [(rate, _)] = Counter(trial.rate for trial in trials).most_common(1)
    assert rate != RATES[0]
    network.compile(keras.optimizers.Adam(rate), loss)
    epochs = round(statistics.median(trial.best_epoch for trial in trials))
    [seed] = independent_seeds(0, FOLDS, "shuffling")
    return trained_by_batches(network, inputs, targets, epochs, BATCH, seed)


def test_best_network_classifies_as_one_trained_with_the_selected_rate(
    compared, classes
):
    x = standardised(classes.x, slice(None))
    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network = retrained(compared, x, classes.y, 2, cross_entropy)

    logits = network.predict(x, verbose=0)

    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    expected = odds / odds.sum(axis=1, keepdims=True)
    assert np.ptp(expected[:, 0]) > 0.1
    np.testing.assert_allclose(raw_predictions(compared, classes), expected, atol=1e-4)


def test_best_network_predicts_as_one_trained_with_the_selected_rate(
    regressed, numbers
):
    x, y = standardised(numbers.x, slice(None)), standardised(numbers.y, slice(None))
    network = retrained(regressed, x, y, 1, "mse")

    expected = network.predict(x, verbose=0) * numbers.y.std() + numbers.y.mean()

    assert np.ptp(expected) > 1
    np.testing.assert_allclose(
        raw_predictions(regressed, numbers), expected, rtol=1e-5, atol=0.01
    )


def test_networks_score_as_the_selected_trial(regressed, numbers):
    for cell in (report.cell for report in regressed.reports):
        [(report, network)] = ProtocolTrainer(cell.protocol, numbers).run([cell])
        scores = [trial.scores["rmse"] for trial in report.trials]
        assert report.trials.index(report.selected) > 0
        assert len(set(scores)) == len(scores)
        rows = rows_of(report.cell, numbers)
        outputs = network.predict(standardised(numbers.x, rows.train), verbose=0)[:, 0]
        y = numbers.y[rows.train]
        errors = outputs * y.std() + y.mean() - numbers.y
        found = np.sqrt(np.mean(errors[rows.test] ** 2))
        assert found == pytest.approx(report.score, rel=1e-4)
        for activation in report.activations:
            layer = network.get_layer(activation["name"])
            for name, weight in zip(
                activation["weights"], layer.get_weights(), strict=True
            ):
                np.testing.assert_allclose(activation["weights"][name], weight)


def test_curves_end_at_the_loss_of_the_selected_trial(regressed):
    for report in regressed.reports:
        place = report.curves["epoch"].index(report.selected.best_epoch)
        loss = report.selected.validation["loss"]
        assert report.curves["validation_loss"][place] == pytest.approx(loss)
