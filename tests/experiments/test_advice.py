"""The advice names what is best, says how sure it is, and what would make it surer."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.tables import text_of

pytestmark = [
    pytest.mark.backend("tensorflow"),
    # Of pandas 2, about columns without entries, which records made by hand have.
    pytest.mark.filterwarnings("ignore:The behavior of DataFrame concat:FutureWarning"),
]

RELU = [76_000.0, 75_000.0, 74_000.0, 75_400.0]
NEAR = [76_100.0, 74_000.0, 74_500.0, 75_300.0]
FAR = [70_000.0, 69_100.0, 68_000.0, 69_500.0]
RATIO = 0.5 / 0.5  # of test rows to all others


@pytest.fixture
def joined(made):
    """Return records of activations, given validation and test scores of each."""

    def join(task="regression", **scores):
        frames = []
        for name, (validation, tests, *more) in scores.items():
            words = {"validation": validation} | dict(*more)
            frames.append(made(name.replace("_", "-"), tests, task, **words))
        return pd.concat(frames, ignore_index=True)

    return join


def smallest_gain(spread, folds, arms):
    """Return the smallest gain that some folds show at the strictest step of Holm."""
    return stats.t(folds - 1).isf(0.025 / arms) * spread * math.sqrt(1 / folds + RATIO)


def test_validation_rows_choose_and_test_rows_say_how_sure_that_is(joined):
    scores = {"relu": (75_000.0, RELU), "silu": (74_000.0, NEAR)}
    text = advice(joined(**scores, gelu=(74_500.0, FAR)))

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
    assert "Better than SiLU on the test rows, and than ReLU beyond chance (p " in text
    assert text.endswith("test folds larger: only more rows do.")


SLOW = {"seconds": [4.5, 4.5, 4.5, 99.0], "epochs": 10.0}
OWN = {"as_it_is": (0.6, [0.6, 0.7, 0.65]), "vaf": (0.8, [0.8, 0.7, 0.9])}
WIDER = "Next, try a wider network, `--hidden 10,6` (about {} minute"
SAID = {  # scores of each activation, and what is said of them
    "baseline": (
        {"relu": (1.0, FAR), "silu": (3.0, NEAR), "gelu": (2.0, RELU)},
        ["Use ReLU: ", "(GELU: 2)", "7.9 % lower than that of GELU, the next on"],
        [", beyond chance (", WIDER.format(1)],
    ),
    "ties": (
        {"prelu": (1.0, RELU), "relu": (1.0, RELU), "gelu": (1.0, NEAR)},
        ["(ReLU: 1). The same score, with no lower loss: ReLU, GELU."],
        ["On the test rows of all folds, it equals ReLU, the next"],
    ),
    "two folds": (
        {"relu": (2.0, RELU[:2]), "silu": (1.0, NEAR[:2])},
        ["(ReLU: 2). To tell what is more than chance, use at least three folds, "],
        ["`--seeds 0,1` (about 1 minute)."],
    ),
    "two folds by time": (
        {"relu": (2.0, RELU[:2]), "silu": (1.0, NEAR[:2])},
        ["use at least three folds, `--folds 3` (about 1 minute)."],
        [],
    ),
    "time of a VAF": (
        {"relu": (2.0, RELU, {"seconds": 3.0}), "vaf_relu": (1.0, FAR, SLOW)},
        ["An epoch with VAF, ReLU start took 1.5 times as long as with ReLU. Next,"],
        [WIDER.format(2)],
    ),
    "reference": (
        {"relu": (2.0, RELU), "silu": (1.0, NEAR), "trees": (0.0, FAR)},
        ["Use SiLU: ", "test rows, with one try: trees, RMSE 69,150 (95% interval"],
        [],
    ),
    "constant, and trees": (
        {"relu": (1.0, [95_000.0, 96_000.0]), "trees": (0.0, [80_000.0, 81_000.0])},
        ["Use ReLU: ", "test rows, without inputs: constant (mean), RMSE 90,000."],
        [],
    ),
    "constant": (
        {"relu": (1.0, [95_000.0, 96_000.0])},
        ["No model predicts the target better than a constant (", "RMSE 90,000"],
        [],
    ),
    "maximize f1": (
        OWN,
        ["Use VAF: its mean validation f1, 0.8, is the best of 2"],
        ["its f1 is 0.15 higher than that of the model as it is"],
    ),
    "minimize mae": (OWN, ["Use the model as it is: "], []),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said(joined, case):
    scores, *parts = SAID[case]
    task = case if scores is OWN else "regression"
    text = advice(joined(task, **scores), timed="by time" in case)
    for part in itertools.chain(*parts):
        assert part in text
    assert ("with one try" in text) == ("trees" in scores)


@pytest.mark.parametrize("seed", range(25))
def test_no_impossible_gain_no_empty_interval_and_no_vain_seeds(joined, seed):
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
    found = joined("classification", **arms)
    text, shown = advice(found), text_of(found)
    timed = advice(found, timed=True)  # other seeds have the same test rows
    assert "seeds," not in timed
    assert ("more rows show" in timed) == ("--seeds" in text or "No number" in text)

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


def test_seeds_that_suffice_are_listed_with_their_cost(joined):
    spread = np.array([0.0, 4_000.0, -4_000.0, 0.0])
    tests = (RELU - np.array(8_100.0) + spread).tolist()
    scores = {"relu": (75_000.0, RELU), "silu": (67_000.0, tests), "tanh": (8e4, NEAR)}
    text = advice(joined(**scores))
    remedy = r"ReLU, add about (\d+) seeds, `--seeds (\S+)` \(about 2 minutes\)\.$"
    count, wanted = re.search(remedy, text).groups()
    assert wanted == ",".join(map(str, range(1 + int(count))))
    gains = np.subtract(RELU, tests)  # as the strictest of two tests sees them
    least = [smallest_gain(gains.std(ddof=1), 4 * n, 2) for n in range(1, 9)]
    assert 1 + int(count) == 1 + np.argmax(np.array(least) < gains.mean())


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
    own = text_of(found.assign(task="minimize mae")).notes  # of a model of one's own
    assert own[3].endswith(
        "try one more, `recipe=Recipe(learning_rates=(0.0003, 0.001, 0.01), folds=3, "
        "test_size=0.2)` (about 1 minute)."
    )
