"""Tables and pictures of trials, made only from their files."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

from keras_vaf.tuners import TrialResult, figures, ranked, read_trials, to_csv

pytestmark = pytest.mark.backend("tensorflow")

VALUES = [
    {"k": 3, "g": "relu"},
    {"k": 11, "g": "tanh"},
    {"k": 3, "g": "tanh"},
    {"k": 5, "g": "relu"},
]
SCORES = [0.5, 0.2, 0.4, None]
RESULTS = [
    TrialResult(
        str(number),
        "FAILED" if score is None else "COMPLETED",
        values,
        score,
        None if score is None else 0.1,
        () if score is None else (score - 0.1, score + 0.1),
        () if score is None else (4, 9),
        None if score is None else 9,
        1.5,
    )
    for number, (values, score) in enumerate(zip(VALUES, SCORES, strict=True))
]


def test_the_best_comes_first_and_the_failed_last():
    assert [result.trial for result in ranked(RESULTS, "min")] == ["1", "2", "0", "3"]
    assert [result.trial for result in ranked(RESULTS, "max")] == ["0", "2", "1", "3"]


def test_the_table_holds_every_trial():
    rows = list(csv.DictReader(io.StringIO(to_csv(RESULTS))))

    assert [row["trial"] for row in rows] == ["0", "1", "2", "3"]
    assert (rows[1]["k"], rows[1]["g"], float(rows[1]["score"])) == ("11", "tanh", 0.2)
    assert float(rows[0]["fold_1"]) == 0.6
    assert rows[3]["score"] == ""


def test_a_folder_without_trials_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"Received: {tmp_path}"):
        read_trials(tmp_path)


def write_trial(folder, trial, content):
    path = folder / f"trial_{trial}" / "trial.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)


COMPLETE = {
    "trial_id": "1",
    "hyperparameters": {"space": [], "values": {"k": 3}},
    "metrics": {"metrics": {}},
    "score": 0.5,
    "best_step": 0,
    "status": "COMPLETED",
    "message": None,
}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", json.dumps({**COMPLETE, "score": "low"})]
)
def test_one_wrong_trial_is_named_and_the_others_are_read(tmp_path, content):
    write_trial(tmp_path, "0", content)
    write_trial(tmp_path, "1", json.dumps(COMPLETE))

    with pytest.warns(UserWarning, match=r"Left out: .*trial_0.*resume the search"):
        (found,) = read_trials(tmp_path)
    assert (found.trial, found.score) == ("1", 0.5)


def test_a_folder_with_wrong_trials_alone_is_refused(tmp_path):
    write_trial(tmp_path, "0", "{")
    with pytest.raises(ValueError, match=r"trial_0.*resume the search"):
        read_trials(tmp_path)


def test_the_best_line_passes_through_its_values():
    ax = figures.parallel_coordinates(RESULTS, "min").axes[0]
    best = next(line for line in ax.get_lines() if line.get_label() == "best trial")

    assert [label.get_text() for label in ax.get_xticklabels()] == ["k", "g", "score"]
    # k = 11 and tanh are the highest of their axes, the lowest score the lowest.
    np.testing.assert_allclose(best.get_ydata(), [1, 1, 0], atol=0.1)
    assert len(ax.get_lines()) == 3


def test_the_best_so_far_never_gets_worse():
    ax = figures.best_so_far(RESULTS, "min").axes[0]
    line = next(line for line in ax.get_lines() if line.get_label() == "best so far")
    np.testing.assert_array_equal(line.get_ydata(), [0.5, 0.2, 0.2])

    ax = figures.best_so_far(RESULTS, "max").axes[0]
    line = next(line for line in ax.get_lines() if line.get_label() == "best so far")
    np.testing.assert_array_equal(line.get_ydata(), [0.5, 0.5, 0.5])


def test_an_effect_is_the_median_of_its_trials():
    figure = figures.marginal_effects(RESULTS, "min")
    k, g = figure.axes

    medians = [line for line in k.get_lines() if line.get_label() == "median"]
    assert [tick.get_text() for tick in k.get_xticklabels()] == ["3", "11"]
    np.testing.assert_allclose([line.get_ydata()[0] for line in medians], [0.45, 0.2])
    assert [tick.get_text() for tick in g.get_xticklabels()] == ["relu", "tanh"]
    assert (len(k.collections), len(g.collections)) == (0, 0)


def test_an_effect_has_an_interval_from_five_trials_on():
    for copies, intervals in ((4, 0), (5, 1)):
        results = [
            TrialResult(str(n), "COMPLETED", {"k": 3}, 0.1 * n) for n in range(copies)
        ]
        [ax] = figures.marginal_effects(results, "min").axes
        assert len(ax.collections) == intervals


def test_the_interval_of_an_effect_covers_90_percent_of_drawn_medians():
    values = range(9)
    results = [TrialResult(str(n), "COMPLETED", {"k": 3}, float(n)) for n in values]
    [ax] = figures.marginal_effects(results, "min").axes
    # The median of nine drawn scores is at most n if five of them are.
    below = stats.binom.sf(4, 9, (np.arange(9) + 1) / 9)
    expected = [int(np.argmax(below >= level)) for level in (0.05, 0.95)]
    [[low, high]] = ax.collections[0].get_segments()
    assert [low[1], high[1]] == expected


def test_a_score_far_away_does_not_hide_the_others():
    astray = TrialResult("4", "COMPLETED", {"k": 3, "g": "relu"}, 1e6)
    ax = figures.best_so_far([*RESULTS[:3] * 4, astray], "min").axes[0]

    assert ax.get_ylim()[1] < 2
    assert ax.get_title(loc="right") == "1 out of range not shown"


@pytest.mark.parametrize(
    "draw",
    [figures.parallel_coordinates, figures.best_so_far, figures.marginal_effects],
)
def test_a_picture_needs_a_completed_trial(draw):
    with pytest.raises(ValueError, match="none of them completed"):
        draw(RESULTS[3:], "min")
