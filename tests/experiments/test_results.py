"""Selection, tests and choice, against SciPy and values worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.experiments import records, select, table
from keras_vaf.experiments.results import choose, models_of, settings_of
from keras_vaf.experiments.store import append
from keras_vaf.experiments.tables import text_of

pytestmark = [
    pytest.mark.backend("tensorflow"),
    # Of pandas 2, about columns without entries, which records made by hand have.
    pytest.mark.filterwarnings("ignore:The behavior of DataFrame concat:FutureWarning"),
]

GOOD, FAR = [0.50, 0.52, 0.51, 0.50], [0.90, 0.93, 0.90, 0.92]


def joined(*frames):
    return pd.concat(frames, ignore_index=True)


def chosen(*frames):
    models = models_of(joined(*frames))
    return models["title"][choose(models)]


@pytest.mark.parametrize(
    ("task", "columns", "rate"),
    [
        ("classification", {"validation": [0.6, 0.8, 0.7]}, 0.2),
        ("regression", {"validation": [0.6, 0.8, 0.7]}, 0.1),
        ("regression", {"val_loss": [0.4, 0.3, 0.5]}, 0.2),  # equal scores
        ("classification", {"val_loss": [None, 9, 9], "validation": [1, 0.1, 0]}, 0.2),
    ],
)
def test_the_best_validation_score_selects_the_learning_rate(made, task, columns, rate):
    one_fold = {"fold": 0, "learning_rate": [0.1, 0.2, 0.3]}

    found = made("relu", [0.9, 0.5, 0.7], task, **one_fold, **columns)

    assert select(found)["learning_rate"].tolist() == [rate]


def test_the_table_has_the_numbers_that_scipy_computes(made):
    rng = np.random.default_rng(0)
    relu, silu, tanh = rng.normal(10, 1, (3, 6))
    scores = {"relu": relu, "silu": silu, "tanh": tanh, "trees": relu - 1}

    shown = table(joined(*(made(*each, "regression") for each in scores.items())))

    means = [relu.mean(), silu.mean(), tanh.mean()]
    assert shown["mean"].tolist()[:3] == pytest.approx(means)
    assert shown["deviation"].iloc[1] == pytest.approx(silu.std(ddof=1))
    scale = np.sqrt((1 / 6 + 0.5 / 0.5) * 6)  # widens the standard error
    p = []
    for title, scores in (("SiLU", silu), ("tanh", tanh)):
        gains = relu - scores
        error = stats.sem(gains) * scale
        low, high = stats.t.interval(0.95, 5, gains.mean(), error)
        assert shown["gain"][title] == pytest.approx(gains.mean())
        assert shown["interval"][title] == pytest.approx((high - low) / 2)
        p.append(2 * stats.t(5).sf(abs(gains.mean()) / error))
    smaller, larger = sorted(p)
    corrected = sorted(shown["p"].dropna())
    assert corrected == pytest.approx([2 * smaller, max(2 * smaller, larger)])
    assert shown["seconds"]["ReLU"] == pytest.approx(6 * 1.5)
    assert shown.loc["trees"].isna().tolist() == [False] * 2 + [True] * 4 + [False]
    assert shown.loc["constant (mean)"].isna().sum() == 5


def test_a_higher_accuracy_is_a_gain_and_rounding_is_none(made):
    rounding = [score + 1e-12 for score in GOOD]

    gains = table(joined(made("relu", GOOD), made("silu", FAR), made("tanh", rounding)))

    assert gains["gain"]["SiLU"] == pytest.approx(np.mean(FAR) - np.mean(GOOD))
    assert gains["gain"]["tanh"] == 0


def test_one_row_more_in_every_fold_is_no_proof(made):
    sizes = np.array([59, 59, 60])  # so that the gains differ
    more = {"share": sizes / 178}
    shown = table(
        joined(made("relu", 50 / sizes, **more), made("silu", 51 / sizes, **more))
    )
    assert (shown["interval"]["SiLU"], np.isnan(shown["p"]["SiLU"])) == (0, True)


@pytest.mark.parametrize(
    ("scores", "change", "message"),
    [
        (GOOD, {"recipe": "other"}, "one dataset by one recipe"),
        (GOOD[1:], {}, "same seeds and folds"),
    ],
)
def test_records_of_other_data_and_folds_are_refused(made, scores, change, message):
    with pytest.raises(ValueError, match=message):
        table(joined(made("relu", GOOD), made("silu", scores, **change)))


def test_the_best_validation_score_then_fewer_parameters_then_the_order_choose(made):
    relu, silu = made("relu", GOOD, validation=0.7), made("silu", FAR, validation=0.8)
    vaf = made("vaf-relu", FAR, parameters=50.0, validation=0.8 + 1e-12)

    assert chosen(relu, vaf, silu) == "SiLU"
    tanh = made("tanh", GOOD, validation=0.8)
    assert chosen(tanh, silu, relu) == "tanh"
    assert chosen(silu, tanh, relu) == "SiLU"
    larger = made("gelu", GOOD, validation=0.8, val_loss=0.3, parameters=99.0)
    assert chosen(silu, larger) == "GELU"
    worse = made("trees", FAR, validation=0.99)  # takes no part
    assert chosen(worse, relu, vaf) == "VAF, ReLU start"


def test_a_diverged_activation_is_chosen_only_if_it_is_alone(made):
    relu = made("relu", [0.5, 0.5], validation=0.1)
    diverged = made("vaf-relu", [0.9, 0.9], val_loss=[0.01, None])

    assert chosen(diverged, relu) == "ReLU"
    assert chosen(diverged) == "VAF, ReLU start"


def test_a_refit_takes_the_usual_rate_and_the_median_epoch_of_its_folds(made):
    rates = {"learning_rate": [0.1, 0.1, 0.3, 0.3, 0.3], "best_epoch": [9, 8, 1, 6, 2]}

    assert settings_of(made("relu", [0.5] * 5, **rates)) == (0.3, 2, 0)


def test_the_text_notes_odd_trainings_and_leaves_out_empty_columns(made):
    rates = {"learning_rate": [0.1, 0.1, 0.1, 0.2], "fold": [0, 1, 2, 2]}

    shown = text_of(made("relu", GOOD, **rates, best_epoch=[10, 5, 5, 5]))

    assert shown.columns == ["activation", "mean", "deviation", "parameters", "seconds"]
    assert shown.lines[0] == ["ReLU", "0.5100", "0.0100", "41", "6.0"]
    assert "| majority class | 0.5000 |" in shown.markdown


@pytest.mark.parametrize("value", [None, [1]])
@pytest.mark.parametrize("name", ["title", "fold"])
def test_a_line_with_a_value_of_another_kind_is_no_record(tmp_path, name, value):
    texts = ("problem", "task", "hidden", "title", "recipe", "activation")
    row = dict.fromkeys((*texts, "arguments", "environment"), "a")
    row |= dict.fromkeys(("seed", "fold", "validation", "test"), 1)
    row |= dict.fromkeys(("constant", "share", "seconds"), 0.5)
    append(tmp_path, row)
    append(tmp_path, row | {"seed": 2, name: value})
    append(tmp_path, row | {"seconds": 0.7})  # a training counts once
    append(tmp_path, row | {"recipe": "b"})
    assert records(tmp_path)["seconds"].tolist() == [0.5, 0.5]
    assert records(tmp_path, "b")["recipe"].tolist() == ["b"]
    with pytest.raises(NotADirectoryError, match=r"Received: .*\.jsonl"):
        records(*tmp_path.iterdir())
