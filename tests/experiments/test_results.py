"""Selection, tests and choice, against SciPy and values worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.experiments import find_arms, select, table
from keras_vaf.experiments.results import choose, results_of, settings_of
from keras_vaf.experiments.tables import text_of

pytestmark = pytest.mark.backend("tensorflow")

GOOD, FAR = [0.50, 0.52, 0.51, 0.50], [0.90, 0.93, 0.90, 0.92]


def joined(*frames):
    return pd.concat(frames, ignore_index=True)


def chosen(*frames):
    return choose(results_of(joined(*frames))).title


def test_the_best_validation_score_selects_the_learning_rate(made):
    rates, tests = [0.1, 0.2, 0.3], [0.9, 0.5, 0.7]
    one_fold = {"fold": 0, "learning_rate": rates}

    accuracy = made("relu", tests, **one_fold, validation=[0.6, 0.8, 0.7])
    error = made("relu", tests, "regression", **one_fold, validation=[0.6, 0.8, 0.7])

    assert select(accuracy)["learning_rate"].tolist() == [0.2]
    assert select(error)["learning_rate"].tolist() == [0.1]


def test_of_equal_scores_the_lower_loss_is_selected_then_the_earlier(made):
    one_fold = {"fold": 0, "learning_rate": [0.1, 0.2, 0.3]}

    lower = made("relu", [0.5] * 3, **one_fold, val_loss=[0.4, 0.3, 0.5])
    equal = made("relu", [0.5] * 3, **one_fold)

    assert select(lower)["learning_rate"].tolist() == [0.2]
    assert select(equal)["learning_rate"].tolist() == [0.1]


def test_a_diverged_network_is_selected_last(made):
    one_fold = {"fold": 0, "learning_rate": [0.1, 0.2], "val_loss": [None, 9.0]}

    found = made("relu", [0.9, 0.5], **one_fold, validation=[1.0, 0.1])

    assert select(found)["learning_rate"].tolist() == [0.2]


def test_the_table_has_the_numbers_that_scipy_computes(made):
    rng = np.random.default_rng(0)
    relu, silu, tanh = rng.normal(10, 1, (3, 6))
    found = joined(
        made("relu", relu, "regression"),
        made("silu", silu, "regression"),
        made("tanh", tanh, "regression"),
        made("trees", relu - 1, "regression"),
    )

    shown = table(found)

    assert shown["mean"].tolist()[:3] == pytest.approx(
        [relu.mean(), silu.mean(), tanh.mean()]
    )
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


@pytest.mark.parametrize("change", [{"problem": "other"}, {"recipe": "other"}])
def test_records_of_other_data_are_refused(made, change):
    with pytest.raises(ValueError, match="one dataset by one recipe"):
        table(joined(made("relu", GOOD), made("silu", GOOD, **change)))


def test_other_folds_are_refused(made):
    with pytest.raises(ValueError, match="same seeds and folds"):
        table(joined(made("relu", GOOD), made("silu", GOOD[1:])))


def test_the_best_on_validation_rows_of_those_that_are_better_is_chosen(made):
    near = [0.55, 0.5, 0.5, 0.5]
    further = [score + 0.01 for score in FAR]

    assert (
        chosen(
            made("relu", GOOD),
            made("tanh", near, validation=1.0),
            made("silu", FAR, validation=0.8),
            made("vaf-relu", further, validation=0.7),
        )
        == "SiLU"
    )


def test_the_cheapest_is_chosen_where_nothing_differs_then_the_earlier(made):
    vaf = made("vaf-relu", FAR, parameters=50.0, validation=1.0)

    assert chosen(vaf, made("silu", FAR), made("relu", FAR)) == "SiLU"


def test_the_cheapest_is_not_chosen_if_it_is_worse(made):
    relu = made("relu", [error + 0.5 for error in FAR], "regression")
    vaf = made("vaf-relu", FAR, "regression", parameters=50.0)

    assert chosen(vaf, relu) == chosen(relu, vaf) == "VAF, ReLU start"


def test_a_diverged_activation_is_chosen_only_if_it_is_alone(made):
    relu = made("relu", [0.5, 0.5], validation=0.1)
    diverged = made("vaf-relu", [0.9, 0.9], val_loss=[0.01, None])

    assert chosen(diverged, relu) == "ReLU"
    assert chosen(diverged) == "VAF, ReLU start"


def test_a_refit_takes_the_usual_rate_and_the_median_epoch(made):
    rates = {"learning_rate": [0.1, 0.3, 0.3], "best_epoch": [9, 1, 2]}

    [result] = results_of(made("relu", [0.5] * 3, **rates))

    assert settings_of(result) == (0.3, 2, 0)


def test_odd_trainings_are_noted(made):
    rates = {"learning_rate": [0.1, 0.1, 0.1, 0.2], "fold": [0, 1, 2, 2]}
    found = made("relu", GOOD, **rates, best_epoch=[10, 5, 5, 5])

    notes = text_of(found).notes

    assert "In 1 of 3 selected trainings, the best epoch is the last one." in notes
    assert any(note.startswith("In 3 of 3") and "lowest" in note for note in notes)


def test_the_text_leaves_out_what_one_activation_does_not_have(made):
    shown = text_of(made("relu", GOOD))

    assert shown.columns == ["activation", "mean", "deviation", "parameters", "seconds"]
    assert shown.lines[0] == ["ReLU", "0.5075", "0.0096", "41", "6.0"]
    assert "| majority class | 0.5000 |" in shown.markdown


def test_the_nearest_name_of_an_activation_is_offered():
    with pytest.raises(ValueError, match=r"Did you mean 'relu'\? Received: 'rellu'"):
        find_arms("rellu")
