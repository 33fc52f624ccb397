"""The table of a comparison, made from reports written by hand."""

import pytest

from keras_vaf.experiments import comparison_table, results_of
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

TABLE = """\
# Accuracy on toy, hidden layers 5-3

| activation | mean | deviation | wins/ties/losses | gain | p | p (Holm) | parameters \
| FLOPs | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ReLU | 0.8000 | 0.1000 |  |  |  |  | 41 | 90 | 3.8 |
| VAF, ReLU start | 0.9000 | 0.1000 | 2/0/1 | +0.1000 ± 0.8605 | 0.667 | 0.667 | 1,234 \
| 5,678 | 6.0 |
| majority class | 0.5000 | 0.0000 |  |  |  |  |  |  |  |

- Higher is better; the deviation is that of the test folds. Wins, ties, losses, gain \
(with its 95% interval) and p (corrected resampled t-test) compare each activation \
with ReLU on the same folds. p (Holm) is corrected for the number of activations, \
the intervals are not.
- Seeds: 0. 6 trainings, each tested with the weights of its best validation epoch; in \
0 of them this epoch was the last one.
- Trained (mlp) with Rprop, learning_rate 0.01, eta_plus 1.2, eta_minus 0.5: full \
batch; at most 3 epochs; no early stopping; 2 stratified folds; 20% of the other rows \
for validation; inputs standard; targets none; categories one-hot; kernels Glorot \
uniform, biases 0.
- FLOPs count one sample's way through the network; each elementary operation of an \
activation counts as one.
- Seconds are those of all trainings of a line, on jax (cpu:0).
"""


def test_says_everything_that_one_must_know():
    here = {"backend": "jax", "device": "cpu:0", "versions": {}}
    cost = {"parameters": 1234, "flops": 5678, "seconds": 2.0}
    relu = make_arm("relu", [0.7, 0.8, 0.9], environment=here)
    vaf = make_arm("vaf-relu", [0.9, 1.0, 0.8], environment=here, **cost)

    assert comparison_table([*relu, *vaf]).markdown == TABLE


def test_a_difference_that_is_far_from_chance_has_a_p_value_below_a_thousandth():
    relu = make_arm("relu", [0.1, 0.11, 0.1, 0.11])
    vaf = make_arm("vaf-relu", [0.9, 0.91, 0.9, 0.92])

    text = comparison_table([*relu, *vaf]).markdown

    assert "| < 0.001 |" in text
    assert "0.000 |" not in text


def test_one_fold_has_a_gain_without_interval_and_p_value():
    table = comparison_table([*make_arm("relu", [0.5]), *make_arm("vaf-relu", [0.6])])

    assert "p" not in table.columns
    assert table.lines[1][table.columns.index("gain")] == "+0.1000"


def test_says_when_reports_come_from_different_versions():
    old = make_arm("relu", [0.5], environment={"backend": "jax", "device": "cpu:0"})
    new = make_arm("vaf-relu", [0.5])

    assert "2 different environments" in comparison_table([*old, *new]).markdown


def test_counts_folds_as_won_when_the_error_is_smaller():
    relu = make_arm("relu", [3.0, 2.0, 1.0], "regression")
    vaf = make_arm("vaf-relu", [2.0, 2.0, 4.0], "regression")

    first, second = results_of([*relu, *vaf])

    assert (first.reference, first.gains, first.p) == (None, (), None)
    text = comparison_table([*relu, *vaf]).markdown
    assert "| 1/1/1 |" in text
    assert second.gains == (1.0, 0.0, -3.0)


def test_pairs_folds_in_whatever_order_the_reports_come():
    relu = make_arm("relu", [0.5, 0.6, 0.7])
    vaf = make_arm("vaf-relu", [0.6, 0.7, 0.8])

    result = results_of([*relu, *reversed(vaf)])[1]

    assert result.scores == (0.6, 0.7, 0.8)
    assert result.gains == pytest.approx((0.1, 0.1, 0.1))


def test_a_single_fold_has_no_deviation():
    assert results_of(make_arm("relu", [0.5]))[0].deviation == 0


def test_refuses_arms_with_different_folds():
    relu = make_arm("relu", [0.5, 0.6])
    vaf = make_arm("vaf-relu", [0.6])

    with pytest.raises(ValueError, match=r"same seeds and folds.* Received: "):
        comparison_table([*relu, *vaf])


def test_refuses_nothing():
    with pytest.raises(ValueError, match="Received: "):
        comparison_table([])


def test_of_a_regression_names_units_and_constant():
    text = comparison_table(make_arm("relu", [312.5, 310.5], "regression")).markdown

    assert text.startswith("# RMSE on toy")
    assert "| ReLU | 311.5 | 1.414 |" in text
    assert "| constant (mean) | 0.5 | 0 |" in text
    assert "- Lower is better" in text
    assert "; 2 folds; " in text


def test_says_which_learning_rates_were_tried():
    reports = make_arm("relu", [0.5], protocol={"rates": (0.001, 0.1)})

    notes = comparison_table(reports).notes

    assert any("learning rates 0.001, 0.1; " in note for note in notes)
    assert any("best validation score were selected" in note for note in notes)
