"""Tables that a careless user brings: each gets a sentence, and nothing is written."""

import re

import numpy as np
import pytest

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

ROWS = 40
NUMBERS = np.random.default_rng(0).normal(size=(3, ROWS)).round(3).tolist()
QUICK = "--folds 2 --epochs 1 --hidden 2 --output out --missing mean"

ONE_NETWORK = "--activations relu --learning-rates 0.01"


def csv(separator=",", rows=ROWS, header=None, **columns):
    """Return the text of a table with inputs a, b and c, and the target t."""
    a, b, t = NUMBERS
    values = {"a": a, "b": b, "c": ["x", "y"] * (ROWS // 2), "t": t} | columns
    kept = {name: cells for name, cells in values.items() if cells is not None}
    lines = [kept if header is None else header, *zip(*kept.values(), strict=True)]
    text = "\n".join(separator.join(map(str, line)) for line in lines[: rows + 1])
    return text + "\n"


# All other refusals are those of `read_table`: tests/datasets/test_own.py.
REFUSED = {
    "number and text": (
        csv(a=["many", *range(1, ROWS)]),
        "line 2: column 'a' must hold numbers, .*; 1 of its 40 .*\nThis command solves",
    ),
    "three rows": (csv(rows=3), "3 rows with a target.* at least 20 are needed"),
    "separator": (
        csv(separator="#"),
        "separated by '#'.*\nThis .*\n.* --separator '#'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", ["compare", "search"])
def test_a_table_is_refused_with_advice(refusal, tmp_path, command, name):
    text, expected = REFUSED[name]
    (tmp_path / "table.csv").write_text(text)
    said = refusal(f"{command} table.csv --target t {QUICK}")
    assert re.search(expected, said), said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["compare", "search"])
def test_a_table_with_many_oddities_is_taken_with_warnings(run, tmp_path, command):
    """Missing cells and targets, text, dates, unicode, a constant, leak, identifier."""
    text = csv(
        größe=["", *range(1, ROWS)],
        天气=["sun", "?", "rain", "x y"] * 10,
        day=[f"2024-01-{row % 28 + 1:02}" for row in range(ROWS)],
        same=[7] * ROWS,
        leak=[2 * t + 1 for t in NUMBERS[2]],
        person=[f"id{row:03}" for row in range(ROWS)],
        t=["", *NUMBERS[2][1:]],
    )
    (tmp_path / "table.csv").write_text(text)
    more = "--trials 1" if command == "search" else ONE_NETWORK
    more += "" if command == "compare" else " --baselines none"
    code, output, errors = run(f"{command} table.csv --target t {QUICK} {more}")
    assert code == 0, errors
    for line in (
        "Left out 1 row without a target.",
        "größe",
        "天气 (3)",
        "day (ISO 8601)",
        "Left out column 'same': it has one value",
        "Left out column 'person': its text differs in each row",
    ):
        assert line in output, output
    assert "Warning: column 'leak' has a correlation of 1.00000" in errors


@pytest.mark.parametrize("command", ["compare", "search"])
def test_labels_of_text_are_classes(run, tmp_path, command):
    (tmp_path / "table.csv").write_text(csv(t=["si", "nö"] * (ROWS // 2)))
    more = "--trials 1" if command == "search" else ONE_NETWORK
    more += "" if command == "compare" else " --baselines none"
    code, output, errors = run(f"{command} table.csv --target t {QUICK} {more}")
    assert code == 0, errors
    assert "Target 't': taken as 2 classes (nö, si)" in output


def test_the_rows_that_the_best_network_is_trained_on_are_counted(run, tmp_path):
    days = [f"2024-01-{row % 28 + 1:02}" for row in range(ROWS)]
    (tmp_path / "table.csv").write_text(csv(day=days, a=["", *range(1, ROWS)]))
    quick = f"{QUICK.removesuffix('mean')}drop {ONE_NETWORK}"
    _, output, _ = run(f"compare table.csv --target t --time day {quick}")
    assert f"trained again on all {ROWS - 1} rows" in output
