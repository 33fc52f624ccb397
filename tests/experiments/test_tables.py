"""Tables, made from reports written by hand."""

import pytest

from keras_vaf.experiments import markdown, summarise
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

TABLE = """\
# Accuracy on toy, hidden layers 5-3

| activation | mean | deviation | wins | ties | losses | parameters | FLOPs | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ReLU | 0.8000 | 0.1000 |  |  |  | 41 |  | 3.8 |
| VAF, ReLU start | 0.9000 | 0.1000 | 2 | 0 | 1 | 1,234 | 5,678 | 6.0 |
| majority class | 0.5000 |  |  |  |  |  |  |  |

- Stratified 2-fold cross-validation, seed 0. Higher is better; the deviation is \
that of the test folds.
- Wins, ties and losses count the folds against ReLU. They are no test of significance.
- Rprop (learning_rate 0.01, eta_plus 1.2, eta_minus 0.5), full batch, at most 3 \
epochs. Tested with the weights of the best validation epoch, at the latest epoch 2.
- Hyper-parameters were not searched (selection: none).
- FLOPs are those of one sample's way through the network; each elementary operation \
of an activation counts as one.
- Seconds are those of all trainings of a line, on jax (cpu:0).
"""


def test_says_everything_that_one_must_know():
    relu = make_arm("relu", [0.7, 0.8, 0.9])
    vaf = make_arm(
        "vaf-relu", [0.9, 1.0, 0.8], parameters=1234, flops=5678, seconds=2.0
    )

    assert markdown([*relu, *vaf]) == TABLE


def test_says_when_reports_come_from_different_versions():
    old = make_arm("relu", [0.5], environment={"backend": "jax", "device": "cpu:0"})
    new = make_arm("vaf-relu", [0.5])

    assert "2 different environments" in markdown([*old, *new])


def test_counts_folds_as_won_when_the_error_is_smaller():
    relu = make_arm("relu", [3.0, 2.0, 1.0], "regression")
    vaf = make_arm("vaf-relu", [2.0, 2.0, 4.0], "regression")

    first, second = summarise([*relu, *vaf])

    assert (first.wins, first.ties, first.losses) == (None, None, None)
    assert (second.wins, second.ties, second.losses) == (1, 1, 1)


def test_pairs_folds_in_whatever_order_the_reports_come():
    relu = make_arm("relu", [0.5, 0.6, 0.7])
    vaf = make_arm("vaf-relu", [0.6, 0.7, 0.8])

    row = summarise([*relu, *reversed(vaf)])[1]

    assert row.scores == (0.6, 0.7, 0.8)
    assert (row.wins, row.ties, row.losses) == (3, 0, 0)


def test_a_single_fold_has_no_deviation():
    assert summarise(make_arm("relu", [0.5]))[0].deviation == 0


def test_refuses_arms_with_different_folds():
    relu = make_arm("relu", [0.5, 0.6])
    vaf = make_arm("vaf-relu", [0.6])

    with pytest.raises(ValueError, match=r"same seeds and folds.* Received: "):
        summarise([*relu, *vaf])


def test_refuses_nothing():
    with pytest.raises(ValueError, match="Received: "):
        summarise([])


def test_of_a_regression_names_units_and_constant():
    text = markdown(make_arm("relu", [312.5, 310.5], "regression"))

    assert text.startswith("# RMSE on toy")
    assert "| ReLU | 311.5 | 1.414 |" in text
    assert "| constant (mean) | 0.5 |" in text
    assert "- 2-fold cross-validation, seed 0. Lower is better" in text


def test_says_which_learning_rates_were_tried():
    text = markdown(make_arm("relu", [0.5], protocol={"rates": (0.001, 0.1)}))

    assert "- Learning rates tried: 0.001, 0.1. In each fold the one with" in text
