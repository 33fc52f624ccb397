"""The trainings of the transformer on bytes, and their table."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.evidence.answers import PACKED, packed_frame
from benchmarks.evidence.pytorch import tables as seed_tables

pytestmark = pytest.mark.backend("torch")


def test_published_losses_are_those_of_the_records():
    frame = packed_frame("language", "language-others")
    lines = (PACKED / "language.md").read_text("utf-8").splitlines()[2:]
    rows = {each.split("|")[1].strip(): each for each in lines}
    shown = {k: v for k, v in seed_tables.ARMS.items() if v in rows}
    assert shown == seed_tables.ARMS
    tested = {}
    for arm, title in shown.items():
        own = frame[frame.arm == arm]
        tuned = frame[(frame.arm == arm.removesuffix("-long")) & (frame.seed == 0)]
        rate = min(zip(tuned.validation, tuned.rate, strict=True))[1]
        last = own[(own.seed > 0) & (own.rate == rate)].sort_values("seed")
        tested[arm] = last.test.to_numpy()
        assert len(last) == 5
        assert f"| {tested[arm].mean():.4f} |" in rows[title]
    for control, arm in itertools.product(("silu", "gelu"), tested):
        if arm != control:
            percent = 100 * (tested[arm] / tested[control] - 1)
            low, high = stats.ttest_1samp(percent, 0).confidence_interval()
            expected = f"| {percent.mean():z.2f} ({low:z.2f} to {high:z.2f}) |"
            assert expected in rows[seed_tables.ARMS[arm]]
    for fixed in ("silu", "gelu"):
        arm = f"vaf-{fixed}"
        percent = 100 * (tested[arm] / tested[f"{fixed}-long"] - 1)
        low, high = stats.ttest_1samp(percent, 0).confidence_interval()
        expected = f"| {percent.mean():.2f} ({low:.2f} to {high:.2f}) |"
        assert rows[seed_tables.ARMS[arm]].endswith(expected)


def test_an_activation_with_unfinished_trainings_is_not_in_the_table_of_losses():
    frame = packed_frame("language")
    silu = frame[frame.arm == "silu"]
    gelu = silu.assign(arm="gelu", test=silu.test * np.linspace(0.9, 1, len(silu)))
    unfinished = gelu[gelu.seed < 5].assign(arm="relu")
    text = seed_tables.loss_table(pd.concat([frame, gelu, unfinished]))
    assert "| GELU" in text and "| ReLU" not in text
