"""The table of an experiment, from records made by hand."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, find_arms
from keras_vaf.experiments.results import select
from keras_vaf.experiments.significance import holm
from keras_vaf.experiments.store import COLUMNS
from keras_vaf.paper.parts import Part, Trained
from keras_vaf.paper.tables import published_table

pytestmark = pytest.mark.backend("torch")

X = np.zeros((2, 1), "float32")
ARMS = find_arms("relu,vaf-relu")
DATASETS = ("servo", "yacht", "kin8nm", "puma8nh", "puma32h", "elevators")


def records(name, hidden, scores, learning_rate=0.01):
    """Return one record for each activation and fold; scores are by activation."""
    rows = [
        (arm.name, arm.title, json.dumps(arm.arguments), fold, *pair)
        for arm in ARMS
        for fold, pair in enumerate(scores[arm.name])
    ]
    names = ("activation", "title", "arguments", "fold", "validation", "test")
    found = pd.DataFrame(rows, columns=names).reindex(columns=list(COLUMNS))
    found = found.assign(problem=name, task="regression", hidden=hidden, recipe=hidden)
    return found.assign(
        learning_rate=learning_rate,
        seed=0,
        val_loss=found["validation"],
        constant=1.0,
        share=0.1,
    )


def trained(name, hidden="10", **words):
    """Return random scores of ten folds, those of the VAF a little better."""
    rng = np.random.default_rng(len(name))
    relu = rng.uniform(0.4, 0.6, (10, 2))
    scores = words or {"relu": relu, "vaf-relu": relu - rng.normal(0.02, 0.01, (10, 2))}
    dataset = Dataset(name, "regression", X, X[:, 0], ("a",))
    part = Part("regression", ARMS, Recipe(hidden=(int(hidden),)))
    scores = {key.replace("_", "-"): value for key, value in scores.items()}
    return Trained(dataset, part, records(name, hidden, scores))


def test_published_numbers_stand_beside_ours():
    report = published_table([trained("servo")], "validation")

    relu, vaf = report.table.to_dict("records")
    assert (relu["published"], vaf["published"]) == (0.0946, 0.0961)
    ours = f"{vaf['mean']:.4f} ± {vaf['deviation']:.4f} (10)"
    assert report.text.lines[1][:5] == [
        *("servo", "vaf-relu", "1.0000", ours, "0.0961 ± 0.0271 (25)")
    ]


@pytest.mark.parametrize("count", [5, 6])
def test_six_datasets_are_tested_and_five_are_not(count):
    parts = [trained(name) for name in DATASETS[:count]]

    table, text, *_ = published_table(parts, "validation")

    vafs = table[table["activation"] == "vaf-relu"]
    if count == 5:
        assert vafs["p"].isna().all()
        assert "p (Holm)" not in text.columns
        assert not any("Wilcoxon" in note for note in text.notes)
        return
    raw = []
    for each in parts:
        own = each.records.pivot(index="fold", columns="activation", values="test")
        gains = own["relu"] - own["vaf-relu"]
        # Nadeau and Bengio: 1 / n + test share / training share.
        error = np.sqrt(gains.var() * (1 / 10 + 0.1 / 0.9))
        raw.append(2 * scipy.stats.t(9).sf(abs(gains.mean()) / error))
    np.testing.assert_allclose(vafs["p"], holm(raw))
    means = table.pivot(index="dataset", columns="activation", values="mean")
    logs = np.log(means["vaf-relu"] / means["relu"])
    p = scipy.stats.wilcoxon(logs).pvalue
    [sentence] = [note for note in text.notes if "Wilcoxon" in note]
    assert f"better on {(logs < 0).sum()} of 6" in sentence
    assert f"{np.exp(logs.mean()):.3f} times the error" in sentence
    assert f"p = {p:.3f}" in sentence


def test_equal_means_are_neither_better_nor_tested_as_different():
    relu, vaf = [0.3] * 4, [0.1, 0.2, 0.4, 0.5]  # their means differ by rounding
    scores = {"relu": [(x, x) for x in relu], "vaf_relu": [(x, x) for x in vaf]}
    parts = [trained(name, **scores) for name in ("servo", "yacht")]
    table, text, *_ = published_table(parts, "validation")
    assert table["gain"].tolist()[1::2] == [0, 0]
    assert "better on 0 of 2 datasets, 1.000 times" in text.notes[-1]


# Scores are pairs of validation and test. By validation, the first architecture is
# better, by test scores the second.
SMALL = {"relu": [(0.1, 0.8), (0.2, 0.7)], "vaf_relu": [(0.1, 0.6), (0.1, 0.6)]}
LARGE = {"relu": [(0.3, 0.2), (0.4, 0.1)], "vaf_relu": [(0.2, 0.5), (0.2, 0.3)]}


@pytest.mark.parametrize(
    ("selection", "hidden", "means"),
    [("validation", "10", [0.75, 0.6]), ("paper", "25", [0.15, 0.4])],
)
def test_architectures_are_selected_as_asked(selection, hidden, means):
    parts = [trained("servo", "10", **SMALL), trained("servo", "25", **LARGE)]

    table, text, *_ = published_table(parts, selection)

    assert {*table["hidden"]} == {hidden}
    assert table["mean"].tolist() == pytest.approx(means)
    assert ("by test scores" in text.notes[0]) == (selection == "paper")


def test_learning_rates_are_selected_by_test_scores_only_on_request():
    low, high = (
        records("servo", "10", {"relu": [pair], "vaf-relu": [pair]}, rate)
        for rate, pair in ((0.01, (0.1, 0.9)), (0.1, (0.2, 0.3)))
    )
    found = pd.concat([low, high], ignore_index=True)
    assert {*select(found)["learning_rate"]} == {0.01}
    assert {*select(found, "paper")["learning_rate"]} == {0.1}
    with pytest.raises(ValueError, match="selection='test'"):
        select(found, "test")
