"""The advice names what is best, says how sure it is, and names what to try next."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.experiments.tables import advice

pytestmark = pytest.mark.backend("tensorflow")

RELU = [76_000.0, 75_000.0, 74_000.0, 75_400.0]
NEAR = [76_100.0, 74_000.0, 74_500.0, 75_300.0]
FAR = [70_000.0, 69_100.0, 68_000.0, 69_500.0]
SCALE = math.sqrt(1 / 4 + 0.5 / 0.5)  # half of the rows are tested


@pytest.fixture
def said(made):
    def say(**scores):
        frames = [
            made(name.replace("_", "-"), tests, "regression")
            for name, tests in scores.items()
        ]
        return advice(pd.concat(frames, ignore_index=True))

    return say


def test_where_nothing_differs_it_is_the_cheapest_and_the_detectable_gain_is_named(
    said,
):
    error = np.subtract(RELU, NEAR).std(ddof=1) * SCALE
    one, two = (stats.t(3).isf(0.025 / tests) * error for tests in (1, 2))

    assert said(relu=RELU, vaf_relu=NEAR) == (
        "Use ReLU: no activation is better than ReLU beyond chance on these 4 folds, "
        f"which would have shown a gain of about {one:,.0f}, and it is the cheapest. "
        "To find smaller differences, add seeds: `--seeds 0,1,2`."
    )
    assert f"about {two:,.0f}," in said(relu=RELU, tanh=NEAR, silu=NEAR)
    assert "shown a gain" not in said(relu=RELU, tanh=RELU)


def test_what_was_done_is_not_advised_again(made):
    wide = made("vaf-relu", FAR, "regression", arguments='{"k": 5, "g": "relu"}')
    assert advice(pd.concat([made("relu", RELU, "regression"), wide])).endswith(
        "`--k 7`."
    )
    two = [made("relu", RELU, "regression", seed=seed) for seed in range(3)]
    assert advice(pd.concat(two)).endswith("add seeds: `--seeds 0,1,2,3,4`.")


@pytest.mark.parametrize(
    ("name", "title", "next_"),
    [
        ("vaf_relu", "VAF, ReLU start", "try a larger k: `--k 5`."),
        ("silu", "SiLU", "try a wider network: `--hidden 200,100`."),
    ],
)
def test_a_difference_beyond_chance_is_named(said, name, title, next_):
    text = said(relu=RELU, **{name: FAR})

    start = f"Use {title}: it is better than ReLU (RMSE lower by 5,950, 95% interval "
    assert text.startswith(start)
    assert text.endswith(f"). Next, {next_}")


def test_a_better_reference_is_named_first_with_its_interval(said):
    text = said(relu=RELU, vaf_relu=NEAR, trees=FAR)

    assert text.startswith("Try trees first: RMSE 69,150, and 75,100 with the network")
    assert ". Among the networks, use ReLU: no activation is better" in text
    gains = np.subtract(RELU, FAR)
    expected = stats.t.interval(0.95, 3, gains.mean(), gains.std(ddof=1) * SCALE)
    ends = re.search(r"interval of the gain (\S+) to (\S+)\)", text).groups()
    found = [float(end.replace(",", "")) for end in ends]
    assert found == pytest.approx(expected, abs=1)
    worse = said(relu=FAR, trees=RELU)
    assert worse.startswith("Use ReLU: it is the only activation.")


def test_data_that_predict_nothing_are_named(said):
    text = said(relu=[95_000.0, 96_000.0])

    assert text.startswith("No model predicts the target better than a constant (")
    assert "RMSE 90,000" in text
