"""The advice names what is best, says how sure it is, and what would make it surer."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.tables import text_of

pytestmark = pytest.mark.backend("tensorflow")

RELU = [76_000.0, 75_000.0, 74_000.0, 75_400.0]
NEAR = [76_100.0, 74_000.0, 74_500.0, 75_300.0]
FAR = [70_000.0, 69_100.0, 68_000.0, 69_500.0]
RATIO = 0.5 / 0.5  # of test rows to all others


@pytest.fixture
def said(made):
    """Say the advice on activations, given validation and test scores of each."""

    def say(task="regression", records=False, **scores):
        frames = []
        for name, (validation, tests, *more) in scores.items():
            words = {"validation": validation} | dict(*more)
            frames.append(made(name.replace("_", "-"), tests, task, **words))
        found = pd.concat(frames, ignore_index=True)
        return found if records else advice(found)

    return say


def smallest_gain(spread, folds, arms):
    """Return the smallest gain that some folds show at the strictest step of Holm."""
    return stats.t(folds - 1).isf(0.025 / arms) * spread * math.sqrt(1 / folds + RATIO)


def test_validation_rows_choose_and_test_rows_say_how_sure_that_is(said):
    text = said(relu=(75_000.0, RELU), silu=(74_000.0, NEAR), gelu=(74_500.0, FAR))

    gains = np.subtract(RELU, NEAR)
    half = smallest_gain(gains.std(ddof=1), 4, 1)
    low, high = gains.mean() - half, gains.mean() + half
    assert text.startswith(
        "Use SiLU: its mean validation RMSE, 74,000, is the best of 3 networks (ReLU: "
        "75,000). On the test rows, its RMSE is 0.17 % lower than that of ReLU: these "
        "4 folds cannot tell that from chance (95% interval of the gain "
        f"{low:,.0f} to {high:,.0f}). On the test rows, its RMSE is 8.4 % higher than "
        "that of GELU, the next on validation rows, beyond chance (95% interval of the "
    )
    assert "GELU tests better than SiLU, and better than ReLU beyond chance (p " in text
    assert text.endswith("test folds larger: only more rows do.")


def test_the_baseline_is_compared_with_the_next_best(said):
    text = said(relu=(69_000.0, FAR), silu=(80_000.0, NEAR), gelu=(75_000.0, RELU))

    start = (
        "Use ReLU: its mean validation RMSE, 69,000, is the best of 3 networks (GELU"
    )
    assert text.startswith(start)
    assert "RMSE is 7.9 % lower than that of GELU, the next on validation rows" in text
    assert "SiLU" not in text
    assert "beyond chance" in text
    assert text.endswith("Next, try a wider network, `--hidden 10,6` (about 1 minute).")


def test_equal_validation_scores_are_named(said):
    text = said(prelu=(74_000.0, RELU), relu=(74_000.0, RELU), gelu=(74_000.0, NEAR))

    assert "(ReLU: 74,000). ReLU, GELU reached the same, with no lower loss." in text
    assert "On the test rows of all folds, it equals ReLU, the next" in text


@pytest.mark.parametrize("seed", range(25))
def test_no_impossible_gain_no_empty_interval_and_no_vain_seeds(said, seed):
    """Accuracies on few rows, often equal, and sometimes higher by one row."""
    draw = np.random.default_rng(seed)
    folds, rows = draw.integers(3, 8), draw.integers(5, 60)

    def scores():
        wrong = draw.integers(0, draw.choice([1, 2, rows // 2]) + 1, folds)
        return (rows - wrong) / rows

    relu = scores()
    tested = {"relu": relu, "silu": relu - draw.choice([0, 1, 2]) / rows}
    tested["gelu"] = scores()
    arms = {name: (draw.uniform(), own) for name, own in tested.items()}
    found = said("classification", True, **arms)
    text, shown = advice(found), text_of(found)

    for title, own in (("SiLU", tested["silu"]), ("GELU", tested["gelu"])):
        [line] = (each for each in shown.lines if each[0] == title)
        cells = dict(zip(shown.columns, line, strict=True))
        equal = np.ptp(np.round(rows * (own - relu))) == 0
        assert ("equal on all folds" in cells["gain"]) == equal
        assert (cells.get("p (Holm)", "") == "") == equal
    assert "± 0.0000" not in shown.markdown
    for title, low, high in re.findall(
        r"that of (\w+)[^(]*\(95% interval of the gain (\S+) to (-?[\d.]+\d)", text
    ):
        room = 1 - tested[title.lower()].mean()
        assert float(low) < float(high) <= room + 1e-4
    if more := re.search(r"add about (\d+) seed", text):
        chosen = re.match("Use (.*?):", text)[1].lower()
        rival = re.search(r"that of (\w+)", text)[1].lower()
        gains = tested[chosen] - tested[rival]
        for seeds, enough in ((1 + int(more[1]), True), (int(more[1]), False)):
            least = smallest_gain(gains.std(ddof=1), folds * seeds, 2)
            assert (least < abs(gains.mean())) == enough


def test_seeds_that_suffice_are_listed_with_their_cost(said):
    spread = np.array([0.0, 4_000.0, -4_000.0, 0.0])
    tests = (RELU - np.array(8_100.0) + spread).tolist()
    text = said(relu=(75_000.0, RELU), silu=(67_000.0, tests), tanh=(8e4, NEAR))
    remedy = r"add about (\d+) seeds, `--seeds (\S+)` \(about 2 minutes\)\.$"
    count, wanted = re.search(remedy, text).groups()
    assert wanted == ",".join(map(str, range(1 + int(count))))
    gains = np.subtract(RELU, tests)  # as the strictest of two tests sees them
    least = [smallest_gain(gains.std(ddof=1), 4 * n, 2) for n in range(1, 9)]
    assert 1 + int(count) == 1 + np.argmax(np.array(least) < gains.mean())


def test_two_folds_ask_for_a_third(said):
    text = said(relu=(75_000.0, RELU[:2]), silu=(74_000.0, NEAR[:2]))
    assert text.endswith(
        "(ReLU: 75,000). 2 folds cannot tell what is more than chance: use three, "
        "`--seeds 0,1` (about 1 minute)."
    )


def test_a_vaf_comes_with_its_time_and_a_larger_k(said):
    times = {"seconds": 3.0}, {"seconds": [4.5, 4.5, 4.5, 99.0], "epochs": 10.0}
    text = said(relu=(75_000.0, RELU, times[0]), vaf_relu=(69_000.0, FAR, times[1]))
    assert text.endswith(
        "An epoch with it took 1.5 times as long as with ReLU. "
        "Next, try a wider network, `--hidden 10,6` (about 2 minutes)."
    )


def test_a_better_reference_is_named_but_does_not_choose(said):
    text = said(relu=(75_000.0, RELU), silu=(74_000.0, NEAR), trees=(1.0, FAR))
    assert text.startswith("Use SiLU: ")
    better = "Better on the test rows, with one try: trees, RMSE 69,150 (95% interval"
    assert better in text
    worse = said(relu=(1.0, FAR), trees=(1.0, RELU))
    assert "one try" not in worse


def test_data_that_predict_nothing_are_named(said):
    text = said(relu=(1.0, [95_000.0, 96_000.0]))
    assert text.startswith("No model predicts the target better than a constant (")
    assert "RMSE 90,000" in text


def test_scores_of_a_model_of_ones_own_have_a_name_and_a_direction(said):
    scores = {"as_it_is": (0.6, [0.6, 0.7, 0.65]), "vaf": (0.8, [0.8, 0.7, 0.9])}
    text = said("maximize f1", **scores)
    assert text.startswith("Use VAF: its mean validation f1, 0.8, is the best of 2")
    assert "its f1 is 0.15 higher than that of as it is" in text
    assert said("minimize mae", **scores).startswith("Use as it is: ")


def test_notes_name_settings_places_and_remedies_with_costs(made):
    last = {"best_epoch": 10, "learning_rate": [0.001, 0.01, 0.01]}
    found = made(
        "vaf-relu", [0.7, 0.8, 0.9], seconds=40.0, environment=["a", "b", "b"], **last
    )
    notes = text_of(found, epochs=300).notes
    rate = "In {} of 3 selected trainings, the learning rate is the {} that was tried: "
    assert notes[2:] == [
        "In 3 of 3 selected trainings, the best epoch is the last one: train for "
        "longer, `--epochs 20` (about 4 minutes).",
        rate.format(1, "lowest")
        + "try one more, `--learning-rates 0.0003,0.001,0.01` (about 1 minute).",
        rate.format(2, "highest")
        + "try one more, `--learning-rates 0.001,0.01,0.03` (about 1 minute).",
        "Trained in several environments: a; b.",
        "Trained with 3 folds, seed 0, at most 300 epochs, and the learning rates "
        "0.001, 0.01. VAF, ReLU start: k = 3, g = relu, initialization = relu.",
    ]
