"""The table of the comparison with equal budgets."""

import statistics

import pytest

from benchmarks.search_comparison import ARMS, markdown

pytestmark = pytest.mark.backend("tensorflow")


def test_the_table_has_a_line_for_each_dataset():
    scores = {"searched VAF": [0.9, 1.0], "fixed VAF": [0.8, 0.9], "ReLU": [0.5, 0.5]}
    assert scores.keys() == ARMS.keys()
    results = [
        {"dataset": "wine", "task": "classification", "arm": arm, "score": score}
        for arm, folds in scores.items()
        for score in folds
    ]
    options = {"trials": 7, "folds": 3, "outer_folds": 2, "epochs": 9}
    document = {"backend": "jax", "options": options, "results": results}

    *text, line = markdown(document).strip().split("\n")

    deviation = f"{statistics.stdev([0.9, 1.0]):.2g}"
    assert line == (
        f"| wine | accuracy | 0.95 ± {deviation} | 0.85 ± {deviation} | 0.5 ± 0 |"
    )
    assert "7 trials each, scored by 3 folds" in text[2]
