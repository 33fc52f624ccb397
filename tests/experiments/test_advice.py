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
SCALE = math.sqrt(1 / 4 + 0.5 / 0.5)  # half of the rows are tested


@pytest.fixture
def said(made):
    """Say the advice on activations, given validation and test scores of each."""

    def say(task="regression", **scores):
        frames = [
            made(name.replace("_", "-"), tests, task, validation=validation)
            for name, (validation, tests) in scores.items()
        ]
        return advice(pd.concat(frames, ignore_index=True))

    return say


def test_the_best_validation_score_decides_and_certainty_is_a_sentence_of_its_own(said):
    text = said(relu=(75_000.0, RELU), silu=(74_000.0, NEAR))
    first, second, third = text.split(". ", 2)
    assert first == (
        "Use SiLU: its mean validation RMSE, 74,000, is the best of 2 networks "
        "(ReLU: 75,000)"
    )
    gains = np.subtract(RELU, NEAR)
    low, high = stats.t.interval(0.95, 3, gains.mean(), gains.std(ddof=1) * SCALE)
    power = stats.t(3).isf(0.025) * gains.std(ddof=1) * SCALE
    assert second == (
        "On test rows, its RMSE is 125 lower than that of ReLU (95% interval of the "
        f"gain {low:,.0f} to {high:,.0f}): these 4 folds cannot tell that from chance, "
        f"and show gains from about {power:,.0f}"
    )
    assert third.startswith("No number of seeds shows a difference of this size")


def test_networks_with_equal_validation_scores_are_chosen_by_their_parameters(said):
    text = said(prelu=(74_000.0, RELU), relu=(74_000.0, RELU), gelu=(74_000.0, NEAR))
    assert text.startswith(
        "Use PReLU: its mean validation RMSE, 74,000, is the best of 3 networks. ReLU "
        "and GELU reached the same, with no fewer parameters."
    )


def test_seeds_that_suffice_are_named_with_their_cost(said, made):
    spread = np.array([0.0, 4_000.0, -4_000.0, 0.0])
    tests = (RELU - np.array(7_200.0) + spread).tolist()
    text = said(relu=(75_000.0, RELU), silu=(68_000.0, tests))
    count, least, wanted = re.search(
        r"add about (\d+) seeds?, (\d+) minutes?: `--seeds (\S+)`", text
    ).groups()
    sd, n = 4_000 * math.sqrt(2 / 3), 4 * (1 + int(count))

    def shown(n):
        return stats.t(n - 1).isf(0.025) * sd * math.sqrt(1 / n + 1)

    assert shown(n) < 7_200 < shown(n - 4)
    assert least == "1"
    assert wanted == ",".join(map(str, range(1 + int(count))))


def test_no_gain_above_the_largest_possible_is_named(said):
    near, far = [0.98, 0.97, 0.99], [0.95, 1.0, 0.97]
    text = said("classification", relu=(0.97, near), silu=(0.98, far))
    assert "cannot tell that from chance. " in text
    assert "show gains" not in text


@pytest.mark.parametrize("shift", [0.0, 0.01])
def test_equal_folds_are_not_certainty(said, made, shift):
    tests = [0.75, 0.8, 0.7]
    more = (np.array(tests) + shift).tolist()
    text = said("classification", relu=(0.7, tests), silu=(0.8, more))
    assert "equal on all folds" in text
    assert "beyond chance" not in text
    frames = [made("relu", tests), made("silu", more)]
    shown = text_of(pd.concat(frames, ignore_index=True)).markdown
    assert "± 0.0000" not in shown
    assert "equal on all folds |" in shown


@pytest.mark.parametrize(
    ("name", "title", "next_"),
    [
        ("vaf_relu", "VAF, ReLU start", "try a larger k: `--k 5`."),
        ("silu", "SiLU", "try a wider network: `--hidden 200,100`."),
    ],
)
def test_a_difference_beyond_chance_is_named(said, name, title, next_):
    text = said(relu=(75_000.0, RELU), **{name: (69_000.0, FAR)})
    assert text.startswith(
        f"Use {title}: its mean validation RMSE, 69,000, is the best"
    )
    assert "its RMSE is 5,950 lower than that of ReLU (95% interval of the gain" in text
    assert "), beyond chance. Next, " in text
    assert text.endswith(next_)


def test_a_first_activation_that_is_best_is_compared_with_the_next(said):
    text = said(relu=(69_000.0, FAR), silu=(80_000.0, NEAR), gelu=(75_000.0, RELU))
    assert (
        "(GELU: 75,000). On test rows, its RMSE is 5,950 lower than that of GELU"
        in (text)
    )


def test_another_network_that_tests_better_beyond_chance_is_named(said):
    text = said(relu=(75_000.0, RELU), silu=(70_000.0, NEAR), gelu=(71_000.0, FAR))
    assert text.startswith("Use SiLU: ")
    assert "GELU tests better than ReLU beyond chance (p < 0.001)." in text


def test_a_better_reference_is_named_first_with_its_interval(said):
    text = said(relu=(75_000.0, RELU), silu=(74_000.0, NEAR), trees=(1.0, FAR))

    assert text.startswith("Try trees first: RMSE 69,150, and 74,975 with the network")
    assert ". Among the networks, use SiLU: its mean validation RMSE" in text
    worse = said(relu=(1.0, FAR), trees=(1.0, RELU))
    assert (
        worse == "Use ReLU: it is the only activation. Next, try a wider network: "
        "`--hidden 200,100`."
    )


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


def test_notes_on_trainings_have_remedies_with_costs(made):
    last = {"best_epoch": 10, "learning_rate": [0.001, 0.01, 0.01]}
    found = made("relu", [0.7, 0.8, 0.9], seconds=40.0, **last)
    notes = " ".join(text_of(found).notes)
    assert "longer, `--epochs 20` (at most 4 minutes)" in notes
    assert "In 1 of 3 selected trainings, the learning rate is the lowest" in notes
    assert (
        "try one more, `--learning-rates 0.0003,0.001,0.01` (about 1 minute)" in notes
    )
    assert "In 2 of 3 selected trainings, the learning rate is the highest" in notes
    assert "`--learning-rates 0.001,0.01,0.03`" in notes
