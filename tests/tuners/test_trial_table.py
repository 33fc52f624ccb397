"""The table of a search's trials."""

import pytest

from keras_vaf.tuners import TrialResult
from keras_vaf.tuners.search_settings import Settings
from keras_vaf.tuners.trial_table import trial_table

pytestmark = pytest.mark.backend("tensorflow")

SETTINGS = Settings("wine", None, "c0ffee", 9, "random", 5, (4,), 30, 0)
GOOD = TrialResult("0", "COMPLETED", {"k": 3}, score=0.25, deviation=0.1, epochs=7)
BETTER = TrialResult("1", "COMPLETED", {"k": 5, "g": "tanh"}, score=0.125)
FAILED = TrialResult("2", "FAILED", {"k": 9})


def test_the_best_trials_come_first():
    table = trial_table([GOOD, FAILED, BETTER], SETTINGS)

    assert table.title == "Search on wine"
    assert table.columns[:4] == ("trial", "score", "deviation", "epochs")
    lines = [dict(zip(table.columns, line, strict=True)) for line in table.lines]
    assert [line["trial"] for line in lines] == ["1", "0", "2"]
    assert [line["score"] for line in lines] == ["0.125", "0.25", "failed"]
    assert [line["g"] for line in lines] == ["tanh", "", ""]
    assert table.notes[1] == "2 of 9 trials completed, 1 failed."


def test_a_long_table_is_cut():
    table = trial_table([GOOD, FAILED, BETTER], SETTINGS, most=1)

    assert len(table.lines) == 1
    assert table.notes[1].endswith("1 failed; the best 1 are shown.")
