"""The table of the comparison with equal budgets."""

import statistics

import pytest

from benchmarks.search_comparison import ARMS, DATASETS, markdown
from keras_vaf.datasets import CATALOGUE
from keras_vaf.experiments import corrected_t_test

pytestmark = pytest.mark.backend("tensorflow")

SCORES = {"searched VAF": [0.9, 1.0], "fixed VAF": [0.8, 0.9], "ReLU": [0.5, 0.7]}


def document(scores):
    return {
        "backend": "jax",
        "environment": {"processor": "some processor"},
        "options": {"trials": 7, "folds": 3, "outer_folds": 2, "epochs": 9},
        "results": [
            {
                "dataset": "wine",
                "task": "classification",
                "arm": arm,
                "fold": fold,
                "score": score,
                "constant": 0.25 + fold / 2,
                "seconds": 120,
            }
            for arm, folds in scores.items()
            for fold, score in enumerate(folds)
        ],
    }


def test_the_table_has_a_line_for_each_dataset():
    assert SCORES.keys() == ARMS.keys()

    *text, line = markdown(document(SCORES)).strip().split("\n")

    same, other = (f"{statistics.stdev(pair):.2g}" for pair in ((0, 0.1), (0, 0.2)))
    p = corrected_t_test([0.4, 0.3], test_fraction=0.5)
    assert line == (
        f"| wine | accuracy | 0.95 ± {same} | 0.85 ± {same} | 0.6 ± {other} | 0.5 "
        f"| {p:.2g} |"
    )
    assert "7 trials for each activation, scored by 3 folds" in text[2]
    assert "12 minutes on some processor, backend jax" in text[4]


def test_a_comparison_that_is_under_way_has_a_table():
    line = markdown(document({"searched VAF": [0.9]})).strip().split("\n")[-1]

    assert line == "| wine | accuracy | 0.9 ± 0 |  |  | 0.25 |  |"


def test_the_datasets_are_the_smallest_of_the_paper():
    rows = {entry.name: entry.size.rows for entry in CATALOGUE}

    assert set(DATASETS) == set(sorted(rows, key=rows.get)[:6])
