"""One cell: rows, training, scores; nothing of the test rows gets into the network."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.datasets.scores import Rows, baseline_scores, class_scores
from keras_vaf.experiments import Cell, Optimizer, Protocol, Variant, find_variants
from keras_vaf.experiments.runs.learned import learned_activations
from keras_vaf.experiments.runs.rows import rows_of
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer


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
    [trained] = ProtocolTrainer(protocol, dataset).run([Cell(protocol, seed=0, fold=0)])
    return trained


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
        ValueError, match=r"takes a table.* Received: .*\(None, 2, 2, 1\)"
    ):
        ProtocolTrainer(make(images, "relu"), images).check()


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


def test_folds_of_odd_data_train_on_equally_many_rows(classes):
    odd = dataclasses.replace(classes, x=classes.x[:37], y=classes.y[:37])
    protocol = make(odd, "relu", folds=3)

    parts = [rows_of(Cell(protocol, 0, fold), odd) for fold in range(3)]

    assert sorted(np.concatenate([rows.test for rows in parts])) == list(range(37))
    assert {(len(rows.train), len(rows.validation)) for rows in parts} == {(19, 5)}
    for rows in parts:
        assert not set(rows.test) & {*rows.train, *rows.validation}


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

    scores = {
        "test": report.selected.scores,
        "validation": report.selected.validation,
    }[part]
    right = sum(row.argmax() == label for row, label in zip(outputs, y, strict=True))
    assert scores["accuracy"] == right / len(y)
    np.testing.assert_allclose(outputs.sum(axis=1), 1, rtol=1e-5)


def test_validation_loss_is_the_cross_entropy_of_the_returned_network(trained, classes):
    report, model = trained
    rows = rows_of(report.cell, classes)

    outputs = outputs_of(model, classes, rows.validation, rows.train)

    likelihoods = outputs[range(4), classes.y[rows.validation]]
    loss = -np.log(likelihoods).mean()
    assert report.selected.validation["loss"] == pytest.approx(loss, rel=1e-3, abs=1e-6)


def test_says_how_the_training_went(trained):
    report, _ = trained

    assert report.rows == {"train": 16, "validation": 4, "test": 20}
    dense = (3 * 5 + 5) + (5 * 3 + 3) + (3 * 2 + 2)
    assert report.parameters == dense + 2 * (3 * 3 + 1)
    assert (report.selected.epochs, report.selected.stopped) == (120, "epochs")
    assert 1 <= report.selected.best_epoch <= 120
    epochs = report.curves["epoch"]
    assert (len(epochs), epochs[0], epochs[-1]) == (100, 1, 120)
    assert report.curves["loss"][0] > report.curves["loss"][-1]
    assert min(report.curves["validation_loss"]) >= report.selected.validation["loss"]


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
    assert report.selected.scores["rmse"] == pytest.approx(
        np.sqrt(np.mean(errors**2)), rel=1e-3
    )
    assert report.selected.scores["rmse"] < report.baseline["rmse"]


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_test_rows_do_not_touch_the_network(fitted, numbers):
    report, model = fitted
    test = rows_of(report.cell, numbers).test
    changed = replaced(numbers, test, x=1e3, y=-1e3)

    other_report, other_model = run(changed, "vaf-relu", epochs=20)

    assert report.score != other_report.score
    assert report.selected.validation == other_report.selected.validation
    for left, right in zip(model.get_weights(), other_model.get_weights(), strict=True):
        np.testing.assert_array_equal(left, right)


def test_baselines_know_the_training_rows_alone(numbers, classes):
    rows = Rows(np.arange(30), np.arange(30, 32), np.arange(32, 40))
    lopsided = replaced(classes, slice(0, 25), y=1)

    standard = Preprocessing(targets="standard").fit(numbers, rows.train)
    constant = baseline_scores(numbers, standard, rows)
    plain = Preprocessing().fit(lopsided, rows.train)
    majority = baseline_scores(lopsided, plain, rows)

    error = np.sqrt(np.mean((numbers.y[32:] - numbers.y[:30].mean()) ** 2))
    scaled = error / numbers.y[:30].std()
    assert constant == {
        "rmse": pytest.approx(error, 1e-5),
        "scaled_rmse": pytest.approx(scaled, 1e-5),
    }
    assert majority == {"accuracy": 0.5, "balanced_accuracy": 0.5}


def test_balanced_accuracy_counts_classes_not_rows():
    y, predicted = np.array([0, 0, 0, 0, 0, 0, 1, 1]), np.array([0] * 7 + [1])

    assert class_scores(y, predicted) == {
        "accuracy": 7 / 8,
        "balanced_accuracy": (1 + 1 / 2) / 2,
    }


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_a_cell_comes_out_the_same_whatever_was_trained_before(classes):
    protocol = make(classes, "vaf-random")
    alone, busy = ProtocolTrainer(protocol, classes), ProtocolTrainer(protocol, classes)
    busy.run([Cell(protocol, 0, 0)])

    [(first, first_model)] = alone.run([Cell(protocol, 0, 1)])
    [(second, second_model)] = busy.run([Cell(protocol, 0, 1)])

    assert dataclasses.replace(second, seconds=first.seconds) == first
    for left, right in zip(
        first_model.get_weights(), second_model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(left, right)


RATES = (0.5, 1e-4)


@pytest.fixture(scope="module")
def tried(classes):
    """Report and network of a cell with two learning rates, and the cells alone."""
    sgd = Optimizer("SGD", {"learning_rate": 9.0})
    fields = {"optimizer": sgd, "epochs": 30, "batch_size": 8}
    alone = [
        run(
            classes,
            "vaf-random",
            **(fields | {"optimizer": Optimizer("SGD", {"learning_rate": rate})}),
        )
        for rate in RATES
    ]
    return run(classes, "vaf-random", rates=RATES, **fields), alone


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_every_learning_rate_is_a_trial_as_it_were_alone(tried):
    (report, _), alone = tried

    for trial, rate, (other, _) in zip(report.trials, RATES, alone, strict=True):
        expected = dataclasses.replace(other.selected, rate=rate)
        assert trial == expected


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_curves_network_and_activations_are_those_of_the_selected_rate(tried):
    (report, model), alone = tried
    (expected, network) = alone[report.trials.index(report.selected)]

    assert report.curves == expected.curves
    assert report.activations == expected.activations
    for left, right in zip(model.get_weights(), network.get_weights(), strict=True):
        np.testing.assert_array_equal(left, right)


def together(classes, cells):
    """Train cells with six networks at a time; return reports without their times."""
    arm = ProtocolTrainer(cells[0].protocol, classes)
    return [
        (dataclasses.replace(report, seconds=0.0), model.get_weights())
        for report, model in arm.run(cells)
    ]


@pytest.mark.backend("jax")
def test_a_cell_repeats_bit_for_bit_whatever_its_neighbours(classes):
    odd = dataclasses.replace(classes, x=classes.x[:37], y=classes.y[:37])
    protocol = make(odd, "vaf-random", folds=4, rates=RATES, epochs=9, replicas=6)
    cells = [Cell(protocol, seed, fold) for seed in (0, 1) for fold in range(4)]

    every = together(odd, cells)
    some = together(odd, [cells[6], cells[1], cells[3], cells[0]])

    for (report, weights), place in zip(some, (6, 1, 3, 0), strict=True):
        assert report == every[place][0]
        for left, right in zip(weights, every[place][1], strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.backend("jax")
def test_cells_trained_together_do_as_they_do_alone(classes):
    one = make(classes, "vaf-random", epochs=20)
    many = dataclasses.replace(one, replicas=2)

    apart = together(classes, [Cell(one, 0, fold) for fold in range(2)])
    joined = together(classes, [Cell(many, 0, fold) for fold in range(2)])

    for (left, left_weights), (right, right_weights) in zip(apart, joined, strict=True):
        np.testing.assert_allclose(
            left.curves["loss"], right.curves["loss"], rtol=1e-5, atol=1e-6
        )
        for a, b in zip(left_weights, right_weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_folds_and_seeds_start_from_different_weights(classes):
    still = Optimizer("SGD", {"learning_rate": 0.0})
    protocol = make(classes, "vaf-random", optimizer=still)
    arm = ProtocolTrainer(protocol, classes)

    starts = [
        arm.run([Cell(protocol, seed, fold)])[0][1].get_weights()
        for seed, fold in ((0, 0), (0, 1), (1, 0))
    ]

    for other in starts[1:]:
        assert np.all(starts[0][0] != other[0])  # the first kernel
        assert np.all(starts[0][2] != other[2])  # alpha of the first activation


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_a_training_that_diverges_is_reported_as_such(numbers):
    wild = Optimizer("SGD", {"learning_rate": 1e30})

    report, _ = run(numbers, "relu", optimizer=wild)

    assert report.selected.stopped == "not finite"
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
