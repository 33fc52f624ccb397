"""Algorithm 2's selection, from reports whose scores were written by hand."""

import dataclasses

import pytest

from keras_vaf.experiments import find_variants, select
from keras_vaf.experiments.reports.report import error
from tests.experiments.fakes import make_arm, make_protocol, make_report, make_trial

pytestmark = pytest.mark.backend("tensorflow")


def arm(hidden, folds, variant="relu", task="classification"):
    """Return reports. A fold is a list of (learning rate, validation, test score)."""
    metric = "rmse" if task == "regression" else "accuracy"
    protocol = make_protocol(
        hidden=hidden, variant=find_variants(variant)[0], task=task
    )
    return [
        make_report(
            protocol=protocol,
            fold=fold,
            trials=tuple(
                make_trial(
                    rate=rate,
                    validation={"loss": 0.5, metric: validation},
                    scores={metric: test},
                )
                for rate, validation, test in trials
            ),
            baseline={metric: 0.5},
        )
        for fold, trials in enumerate(folds)
    ]


SMALL = [[(0.1, 0.9, 0.6), (0.2, 0.8, 0.9)], [(0.1, 0.5, 0.7), (0.2, 0.6, 0.5)]]
LARGE = [[(0.1, 0.7, 0.8), (0.2, 0.6, 0.6)], [(0.1, 0.7, 0.8), (0.2, 0.6, 0.9)]]


def test_validation_scores_pick_the_rate_per_fold_and_the_architecture_by_mean():
    [selected] = select([*arm((5,), SMALL), *arm((9,), LARGE)]).values()

    assert selected.reports[0].protocol.hidden == (5,)  # 0.75 against 0.7
    assert [trial.rate for trial in selected.trials] == [0.1, 0.2]
    assert selected.scores("accuracy") == (0.6, 0.5)


def test_of_architectures_with_equal_validation_scores_the_lower_loss_is_picked():
    reports = [
        report
        # By rounding alone, the mean of the first ones is larger.
        for width, loss, own in ((5, 0.4, [0.2] * 3), (9, 0.3, [0.1, 0.2, 0.3]))
        for report in make_arm(
            "relu",
            [0.5] * 3,
            losses=[loss] * 3,
            validation=own,
            protocol={"hidden": (width,), "folds": 3},
        )
    ]
    for own in (reports, reports[::-1]):
        [selected] = select(own).values()
        assert selected.hidden == (9,)


def test_the_paper_picks_both_by_test_scores():
    reports = [*arm((5,), SMALL), *arm((9,), LARGE)]

    [selected] = select(reports, "paper").values()

    assert selected.reports[0].protocol.hidden == (9,)  # 0.85 against 0.8
    assert selected.scores("accuracy") == (0.8, 0.9)


def test_algorithm_2_read_literally_picks_the_architecture_of_each_fold():
    low = [[(0.1, 0.9, 0.6)], [(0.1, 0.9, 0.9)]]
    high = [[(0.1, 0.9, 0.8)], [(0.1, 0.9, 0.7)]]

    [selected] = select([*arm((5,), low), *arm((9,), high)], "literal").values()

    assert [each.protocol.hidden for each in selected.reports] == [(9,), (5,)]
    assert selected.scores("accuracy") == (0.8, 0.9)
    assert selected.hidden is None


def test_refuses_several_protocols_of_one_architecture():
    reports = arm((5,), SMALL)
    longer = [
        dataclasses.replace(
            report, protocol=dataclasses.replace(report.protocol, epochs=9)
        )
        for report in reports
    ]

    with pytest.raises(ValueError, match=r"single protocol.*for toy and relu"):
        select([*reports, *longer])


def test_the_number_of_networks_at_a_time_makes_no_other_architecture():
    first, second = arm((5,), SMALL)
    wide = dataclasses.replace(second.protocol, replicas=8)

    [selected] = select([first, dataclasses.replace(second, protocol=wide)]).values()

    assert selected.scores("accuracy") == (0.6, 0.5)


@pytest.mark.parametrize("selection", ["validation", "paper", "literal"])
def test_a_small_error_is_a_good_score(selection):
    reports = arm((5,), [[(0.1, 3.0, 3.0), (0.2, 2.0, 2.0)]], task="regression")
    reports += arm((9,), [[(0.1, 4.0, 4.0), (0.2, 5.0, 5.0)]], task="regression")

    [selected] = select(reports, selection).values()

    assert selected.scores("rmse") == (2.0,)


def test_activations_and_datasets_are_selected_apart():
    reports = [*arm((5,), SMALL), *arm((9,), LARGE, variant="vaf-relu")]

    selected = select(reports)

    assert list(selected) == [("toy", "relu"), ("toy", "vaf-relu")]
    assert selected["toy", "vaf-relu"].reports[0].protocol.hidden == (9,)


def test_refuses_architectures_with_other_folds():
    with pytest.raises(ValueError, match=r"same seeds and folds.* \[2, 1\] reports"):
        select([*arm((5,), SMALL), *arm((9,), LARGE[:1])])


def test_refuses_another_selection():
    with pytest.raises(ValueError, match="Received: selection='test'"):
        select(arm((5,), SMALL), "test")


@pytest.mark.parametrize(
    "metric, better, worse",
    [
        ("accuracy", 0.9, 0.8),
        ("balanced_accuracy", 0.9, 0.8),
        ("rmse", 0.1, 0.2),
        ("scaled_rmse", 0.1, 0.2),
    ],
)
def test_accuracies_should_be_high_and_errors_low(metric, better, worse):
    assert error(metric, better) < error(metric, worse)
