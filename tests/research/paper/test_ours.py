"""Protocol `ours`: equal arms, and learning rates that are extended at an edge."""

import dataclasses

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.more_rates import more_rates
from keras_vaf.experiments.results.result import selected_results
from keras_vaf.experiments.results.selection import select
from keras_vaf.experiments.results.trials import with_all_trials
from keras_vaf.research.paper import Form, find_experiment, protocols_of
from keras_vaf.research.paper.ours import our_protocols
from keras_vaf.training.recipe import LEARNING_RATES as RATES
from tests.experiments.fakes import make_protocol, make_report, make_trial

pytestmark = pytest.mark.backend("tensorflow")

ARMS = ("relu", "prelu", "gelu", "silu", "tanh", "vaf-relu", "vaf-silu", "vaf-random")


def table(rows):
    x = np.ones((rows, 3), "float32")
    return Dataset("toy", "regression", x, np.arange(rows, dtype="float32"), "xyz")


def cell(rate, variant="relu", fold=0, best=None, score=0.5, **fields):
    """Return a report whose best learning rate on the validation rows is `best`."""
    rates = rate if isinstance(rate, tuple) else (rate,)
    trials = tuple(
        make_trial(
            rate=each,
            scores={"accuracy": score},
            validation={"loss": 0.4, "accuracy": 0.9 if each == best else 0.5},
        )
        for each in rates
    )
    variant = dataclasses.replace(make_protocol().variant, name=variant)
    protocol = make_protocol(variant=variant, rates=rates, **fields)
    return make_report(protocol=protocol, fold=fold, trials=trials)


@pytest.mark.parametrize(("rows", "architectures"), [(4_999, 4), (5_000, 2)])
def test_every_size_is_trained_alike_in_all_arms(rows, architectures):
    protocols = our_protocols(table(rows))

    assert len(protocols) == architectures * len(ARMS)
    assert {p.variant.name for p in protocols} == {*ARMS}
    for protocol in protocols:
        assert (protocol.optimizer.name, protocol.rates) == ("Adam", RATES)
        assert (protocol.batch_size, protocol.epochs, protocol.patience) == (
            32,
            500,
            30,
        )
        assert protocol.preprocessing.targets == "min-max"
        assert protocol.starts == 1


def test_the_tables_train_them_and_sensorless_is_one_of_the_data():
    dataset = table(40)
    own = {protocol.digest for protocol in protocols_of(dataset, Form("ours"))}

    assert own == {protocol.digest for protocol in our_protocols(dataset)}
    classification = find_experiment("classification")
    assert "sensorless" in classification.datasets_of("ours")
    assert "sensorless" not in classification.datasets_of("paper")


def folds_of(variant, *best):
    return [cell(RATES, variant, fold, rate) for fold, rate in enumerate(best)]


def test_no_learning_rate_is_added_while_none_is_selected_at_an_edge():
    assert more_rates(folds_of("relu", *[0.001] * 19, 0.003)) == []


def test_all_arms_get_a_learning_rate_if_one_arm_selects_an_edge():
    reports = folds_of("relu", 0.001, 0.003) + folds_of("gelu", *[0.003] * 19, 0.01)

    more = more_rates(reports)

    assert [(p.variant.name, p.rates) for p in more] == [
        ("relu", (0.03,)),
        ("gelu", (0.03,)),
    ]
    assert dataclasses.replace(more[0], rates=RATES) == reports[0].protocol


def test_both_sides_grow_by_a_factor_of_three_twice_at_most():
    reports, found = folds_of("relu", 0.01, 0.0003), []
    while more := more_rates(reports):
        rates = [rate for protocol in more for rate in protocol.rates]
        found += rates
        reports = [
            dataclasses.replace(  # the new edges are the best ones
                report,
                trials=tuple(
                    dataclasses.replace(
                        trial, validation={"loss": 0.4, "accuracy": 0.1}
                    )
                    for trial in report.trials
                ),
            )
            for report in reports
        ]
        for rate in rates:
            best = [rate if (rate > 0.01) == (fold == 0) else None for fold in (0, 1)]
            reports += [cell(rate, "relu", fold, best[fold]) for fold in (0, 1)]
    assert sorted(found) == pytest.approx([3e-5, 1e-4, 0.03, 0.09])


def test_protocols_of_other_learning_rates_are_one():
    reports = [cell(RATES, fold=0, best=0.01), cell(0.03, fold=0, best=0.03, score=0.7)]

    [joined] = with_all_trials(reports)
    [selected] = select(reports).values()

    assert joined.protocol.rates == (*RATES, 0.03)
    assert len(joined.trials) == 5
    assert joined.seconds == 2 * reports[0].seconds
    assert selected.scores("accuracy") == (0.5,)  # the first of equals
    assert selected.at_edges == (0, 0)


def test_cells_without_the_further_learning_rate_are_left_out():
    reports = [*folds_of("relu", 0.01, 0.01), cell(0.03, fold=1)]

    assert [report.fold for report in with_all_trials(reports)] == [1]


def test_the_best_fixed_function_is_chosen_on_validation_rows():
    """And VAFs are compared with it, and with the function that they start as."""
    scores = {"relu": 0.9, "gelu": 0.6, "silu": 0.5, "tanh": 0.8}
    scores |= {"vaf-relu": 0.7, "vaf-silu": 0.65, "vaf-random": 0.75}
    reports = [
        cell(0.01, name, best=0.01 if name in ("gelu", "vaf-silu") else 0, score=score)
        for name, score in scores.items()
    ]

    found = selected_results(reports, "accuracy")

    best = found["toy", "best-fixed"]
    assert best.selected.protocol.variant.name == "gelu"
    assert found["toy", "vaf-best"].selected.protocol.variant.name == "vaf-silu"
    silu = found["toy", "vaf-silu"]
    assert [each.against for each in silu.comparisons] == ["silu", "best-fixed"]
    assert [each.gains for each in silu.comparisons] == [
        pytest.approx((0.15,)),
        pytest.approx((0.05,)),
    ]
