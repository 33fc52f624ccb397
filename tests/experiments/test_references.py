"""The references are scikit-learn's models on the rows of the networks."""

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge

from keras_vaf.datasets import Dataset, predict_table
from keras_vaf.experiments import Cell, Protocol, Store, compare, find_variants
from keras_vaf.experiments.results.result import reference_results
from keras_vaf.experiments.runs.references import reference_protocols, train_reference
from keras_vaf.experiments.runs.rows import rows_of
from keras_vaf.training import recipe

pytestmark = pytest.mark.backend("torch")


def references(dataset, **fields):
    protocol = Protocol.of(dataset, find_variants("relu")[0], folds=3, **fields)
    return reference_protocols(protocol)


def test_the_linear_models_are_those_of_the_standardised_inputs(classes, numbers):
    linear, _ = references(classes)
    rows = rows_of(Cell(linear, 0, 1), classes)
    x = (classes.x - classes.x[rows.train].mean(0)) / classes.x[rows.train].std(0)
    model = LogisticRegression(max_iter=1000).fit(x[rows.train], classes.y[rows.train])
    report = train_reference(Cell(linear, 0, 1), classes)
    assert report.score == model.score(x[rows.test], classes.y[rows.test])
    assert report.parameters == 4

    linear, _ = references(numbers)
    rows = rows_of(Cell(linear, 0, 2), numbers)
    x = (numbers.x - numbers.x[rows.train].mean(0)) / numbers.x[rows.train].std(0)
    model = Ridge().fit(x[rows.train], numbers.y[rows.train])
    errors = model.predict(x[rows.test]) - numbers.y[rows.test]
    report = train_reference(Cell(linear, 0, 2), numbers)
    assert report.score == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-3)


def test_the_trees_read_missing_entries_and_categories():
    draw = np.random.default_rng(0)
    code = draw.integers(0, 6, size=400)
    x = np.stack([code, draw.normal(size=400)], axis=1).astype("float32")
    x[::7] = np.nan
    y = (code % 2).astype("int64")
    names = tuple("abcdef")
    data = Dataset("t", "classification", x, y, ("c", "n"), ("no", "yes"), {0: names})
    _, trees = references(data)
    rows = rows_of(Cell(trees, 0, 0), data)
    model = HistGradientBoostingClassifier(
        categorical_features=[0], early_stopping=False
    )
    model.fit(x[rows.train], y[rows.train])
    report = train_reference(Cell(trees, 0, 0), data)
    assert report.score == model.score(x[rows.test], y[rows.test]) > 0.8


def test_training_rows_of_one_class_give_a_constant(classes):
    ordered = dataclasses.replace(classes, y=np.sort(classes.y), times=np.arange(40.0))
    for protocol in references(ordered):
        assert 0 <= train_reference(Cell(protocol, 0, 0), ordered).score <= 1


def test_a_comparison_stores_and_repeats_them_without_networks(classes, tmp_path):
    relu = Protocol.of(
        classes, find_variants("relu")[0], hidden=(3,), epochs=1, folds=2
    )
    protocols = [relu, *reference_protocols(relu)]
    first = compare(classes, protocols, output=tmp_path)
    [linear, trees] = reference_results(first.reports)
    assert [linear.title, trees.title] == [
        "logistic regression",
        "gradient boosted trees",
    ]
    store = Store(tmp_path / "cells")
    assert all(store.read(report.cell) == report for report in first.reports)
    assert compare(classes, protocols, output=tmp_path).reports == first.reports
    assert "gradient boosted trees" in (first.folder / "table.md").read_text()


def test_a_table_of_pandas_is_compared_in_one_call(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": draw.normal(size=(40)), "city": ["x", "y"] * 20})
    frame["price"] = 1000 * frame["a"] + draw.normal(size=40)
    monkeypatch.setattr(recipe, "QUICK", {**recipe.QUICK, "epochs": 1})

    found = compare(frame, target="price", quick=True, output=tmp_path)

    assert list(found.table.index) == [
        *(variant.title for variant in find_variants(",".join(recipe.ACTIVATIONS))),
        *("ridge regression", "gradient boosted trees", "constant (mean)"),
    ]
    relu = [
        report for report in found.reports if report.protocol.variant.name == "relu"
    ]
    mean = np.mean([report.score for report in relu])
    assert found.table.loc["ReLU", "mean"] == pytest.approx(mean)
    assert np.isnan(found.table.loc["ReLU", "gain"])
    assert found.advice.startswith(("Use ", "Try "))
    predicted = predict_table(found.best_model, frame.drop(columns="price"))
    assert len(predicted["predicted price"]) == 40
    assert len(found.plot().axes) > 1
    with pytest.raises(ValueError, match=r"`target`\. Received: None"):
        compare(frame)
