"""Committed tables are those of the committed records."""

from pathlib import Path

import pytest

from benchmarks import recompute_records as recompute

pytestmark = pytest.mark.backend("tensorflow")

FOLDER = Path(__file__).parents[1] / "docs/reports/reproduction"


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_the_sentences_of_committed_tables_are_those_of_the_records(task, protocol):
    table = FOLDER / f"{task}-{protocol}-validation-jax.md"
    lines = table.read_text(encoding="utf-8").splitlines()
    pairs = recompute.PAIRS[protocol]
    found = recompute.compared(f"{task}-{protocol}", pairs)
    for (own, other), each in found.iterrows():
        e, p = each.ratio, recompute.p_text(each.holm, sign="= ")
        ties = f", equal on {e.ties}" if e.ties else ""
        assert (
            f"- {own} against {other} over {each.datasets} datasets: better on "
            f"{e.below}, worse on {e.above}{ties}; {e.text('.3f')} times the error; "
            f"Wilcoxon signed-rank p {p} (Holm's correction)."
        ) in lines
