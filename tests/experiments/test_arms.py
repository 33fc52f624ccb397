"""One cell: rows, training, scores; nothing of the test rows gets into the network."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.experiments import Cell, Optimizer, Protocol, Variant, find_variants
from keras_vaf.experiments.arms import (
    Arm,
    Rows,
    baseline_scores,
    learned_activations,
    rows_of,
)


@pytest.fixture(scope="module")
def trained(classes):
    """Report and network of one cell of a classification."""
    return run(classes, "vaf-relu", epochs=120)


@pytest.fixture(scope="module")
def fitted(numbers):
    """Report and network of one cell of a regression."""
    return run(numbers, "vaf-relu", epochs=20)


def run(dataset, variant, **fields):
    protocol = make(dataset, variant, **fields)
    return Arm(protocol, dataset).run(Cell(protocol, seed=0, fold=0))


def make(dataset, variant, **fields):
    fields = {"hidden": (5, 3), "epochs": 3, "folds": 2} | fields
    return Protocol.of(dataset, find_variants(variant)[0], **fields)


def replaced(dataset, rows, **values):
    """Return the data with other values in some rows."""
    arrays = {name: getattr(dataset, name).copy() for name in values}
    for name, value in values.items():
        arrays[name][rows] = value
    return dataclasses.replace(dataset, **arrays)


def test_takes_tables_alone():
    images = Dataset(
        "images",
        "classification",
        np.zeros((40, 2, 2, 1), "float32"),
        np.arange(40) % 2,
        class_names=("no", "yes"),
    )

    with pytest.raises(
        ValueError, match=r"takes a table.* Received: .*\(40, 2, 2, 1\)"
    ):
        Arm(make(images, "relu"), images).check()


def test_folds_test_every_row_once_and_train_on_the_others(classes, arms):
    tested = []
    for fold in range(2):
        rows = rows_of(Cell(arms[0], 0, fold), classes)
        assert sorted(np.concatenate(rows)) == list(range(40))
        assert len(rows.validation) == 4
        tested.extend(rows.test)
        for part in rows:
            assert classes.y[part].mean() == 0.5

    assert sorted(tested) == list(range(40))


def test_arms_share_their_rows_and_seeds_do_not(classes, arms):
    first, second = (rows_of(Cell(arm, 0, 1), classes) for arm in arms)
    other = rows_of(Cell(arms[0], 1, 1), classes)

    for left, right, another in zip(first, second, other, strict=True):
        assert list(left) == list(right)
        assert list(left) != list(another)


def test_rows_with_missing_values_are_filled_in_or_dropped(classes, arms):
    gaps = replaced(classes, [3, 20], x=[1.0, np.nan, 1.0])
    dropping = dataclasses.replace(arms[0], preprocessing=Preprocessing(missing="drop"))

    kept = [np.concatenate(rows_of(Cell(p, 0, 0), gaps)) for p in (arms[0], dropping)]

    assert len(kept[0]) == 40
    assert sorted(kept[1]) == [row for row in range(40) if row not in (3, 20)]


def outputs_of(model, dataset, part, train):
    """Return what a network says of some rows, its inputs scaled as they should be."""
    mean, deviation = dataset.x[train].mean(axis=0), dataset.x[train].std(axis=0)
    return keras.ops.convert_to_numpy(model((dataset.x[part] - mean) / deviation))


@pytest.mark.parametrize("part", ["validation", "test"])
def test_accuracy_is_that_of_the_returned_network(trained, classes, part):
    report, model = trained
    rows = rows_of(report.cell, classes)
    y = classes.y[getattr(rows, part)]

    outputs = outputs_of(model, classes, getattr(rows, part), rows.train)

    scores = {"test": report.scores, "validation": report.validation}[part]
    right = sum(row.argmax() == label for row, label in zip(outputs, y, strict=True))
    assert scores["accuracy"] == right / len(y)
    np.testing.assert_allclose(outputs.sum(axis=1), 1, rtol=1e-5)


def test_validation_loss_is_the_cross_entropy_of_the_returned_network(trained, classes):
    report, model = trained
    rows = rows_of(report.cell, classes)

    outputs = outputs_of(model, classes, rows.validation, rows.train)

    likelihoods = outputs[range(4), classes.y[rows.validation]]
    loss = -np.log(likelihoods).mean()
    assert report.validation["loss"] == pytest.approx(loss, rel=1e-3, abs=1e-6)


def test_says_how_the_training_went(trained):
    report, _ = trained

    assert report.rows == {"train": 16, "validation": 4, "test": 20}
    dense = (3 * 5 + 5) + (5 * 3 + 3) + (3 * 2 + 2)
    assert report.parameters == dense + 2 * (3 * 3 + 1)
    assert (report.epochs, report.stopped) == (120, "epochs")
    assert 1 <= report.best_epoch <= 120
    epochs = report.curves["epoch"]
    assert (len(epochs), epochs[0], epochs[-1]) == (100, 1, 120)
    assert report.curves["loss"][0] > report.curves["loss"][-1]
    assert min(report.curves["validation_loss"]) >= report.validation["loss"]


def test_keeps_what_activations_learned_and_what_enters_them(trained, classes):
    report, model = trained
    rows = rows_of(report.cell, classes)
    x = classes.x[rows.train]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    kernel, bias = model.layers[0].get_weights()

    first, second = report.activations

    assert (first["name"], second["name"]) == ("activation_1", "activation_2")
    assert list(first["weights"]) == ["alpha", "alpha_bias", "beta", "beta_bias"]
    for values, weight in zip(
        first["weights"].values(), model.layers[1].get_weights(), strict=True
    ):
        np.testing.assert_array_equal(np.float32(values), weight)
    quantiles = np.quantile(x @ kernel + bias, [0, 0.5, 1])
    found = np.array(first["inputs"])[[0, 100, 200]]
    np.testing.assert_allclose(found, quantiles, atol=1e-3)


def test_rmse_is_in_the_units_of_the_target(fitted, numbers):
    report, model = fitted
    rows = rows_of(report.cell, numbers)
    targets = numbers.y[rows.train]

    outputs = outputs_of(model, numbers, rows.test, rows.train)

    errors = numbers.y[rows.test] - (outputs[:, 0] * targets.std() + targets.mean())
    assert report.scores["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-3)
    assert report.scores["rmse"] < report.baseline["rmse"]


def test_test_rows_do_not_touch_the_network(fitted, numbers):
    report, model = fitted
    test = rows_of(report.cell, numbers).test
    changed = replaced(numbers, test, x=1e3, y=-1e3)

    other_report, other_model = run(changed, "vaf-relu", epochs=20)

    assert report.scores != other_report.scores
    assert report.validation == other_report.validation
    for left, right in zip(model.get_weights(), other_model.get_weights(), strict=True):
        np.testing.assert_array_equal(left, right)


def test_baselines_know_the_training_rows_alone(numbers, classes):
    rows = Rows(np.arange(30), np.arange(30, 32), np.arange(32, 40))
    lopsided = replaced(classes, slice(0, 25), y=1)

    constant = baseline_scores(numbers, rows)
    majority = baseline_scores(lopsided, rows)

    errors = numbers.y[32:] - numbers.y[:30].mean()
    assert constant == {"rmse": pytest.approx(np.sqrt(np.mean(errors**2)), 1e-5)}
    assert majority == {"accuracy": 0.5}


def test_a_cell_comes_out_the_same_whatever_was_trained_before(classes):
    protocol = make(classes, "vaf-random")
    alone, busy = Arm(protocol, classes), Arm(protocol, classes)
    busy.run(Cell(protocol, 0, 0))

    first, first_model = alone.run(Cell(protocol, 0, 1))
    second, second_model = busy.run(Cell(protocol, 0, 1))

    assert dataclasses.replace(second, seconds=first.seconds) == first
    for left, right in zip(
        first_model.get_weights(), second_model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(left, right)


def test_folds_and_seeds_start_from_different_weights(classes):
    still = Optimizer("SGD", {"learning_rate": 0.0})
    protocol = make(classes, "vaf-random", optimizer=still)
    arm = Arm(protocol, classes)

    starts = [
        arm.run(Cell(protocol, seed, fold))[1].get_weights()
        for seed, fold in ((0, 0), (0, 1), (1, 0))
    ]

    for other in starts[1:]:
        assert np.all(starts[0][0] != other[0])  # the first kernel
        assert np.all(starts[0][2] != other[2])  # alpha of the first activation


def test_a_training_that_diverges_is_reported_as_such(numbers):
    wild = Optimizer("SGD", {"learning_rate": 1e30})

    report, _ = run(numbers, "relu", optimizer=wild)

    assert report.stopped == "not finite"
    assert None in report.curves["validation_loss"]


def test_keeps_the_weights_of_any_trained_activation_but_not_of_fixed_ones(classes):
    prelu = Variant("prelu", "PReLU", "PReLU")
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4),
            prelu.build(seed=0),
            keras.layers.Dense(4),
            keras.layers.ReLU(),
        ]
    )

    (activation,) = learned_activations(model, classes.x)

    assert activation["weights"] == {"alpha": [0.0] * 4}
