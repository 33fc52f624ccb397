"""A ReLU with as many parameters and tries as two VAFs, and the better VAF."""

import pytest

from keras_vaf.experiments import Protocol, as_fair, find_variants
from keras_vaf.experiments.fair_relu import FAIR_RELU, with_either
from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.results.result import selected_results
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


def test_a_fair_relu_has_the_parameters_and_two_starts(classes):
    vaf = Protocol.of(classes, find_variants("vaf-relu")[0], hidden=(5, 3), epochs=2)
    fair = as_fair(vaf, classes)

    theirs, ours = (
        ProtocolTrainer(protocol, classes).run([Cell(protocol, 0, 0)])[0][0]
        for protocol in (vaf, fair)
    )

    assert (fair.variant.name, fair.starts, fair.epochs) == ("relu-fair", 2, 2)
    assert ours.parameters >= theirs.parameters
    assert [trial.start for trial in ours.trials] == [0, 1]
    assert ours.trials[0].validation != ours.trials[1].validation
    assert ours.rows == theirs.rows


def test_the_first_start_is_that_of_a_single_one(classes):
    one, two = (
        Protocol.of(
            classes,
            find_variants("vaf-random")[0],
            hidden=(5,),
            epochs=2,
            starts=starts,
        )
        for starts in (1, 2)
    )

    reports = [
        ProtocolTrainer(p, classes).run([Cell(p, 0, 0)])[0][0] for p in (one, two)
    ]

    assert one.digest != two.digest
    assert reports[0].trials[0] == reports[1].trials[0]


VAFS = [
    *make_arm("vaf-random", [0.6, 0.9], losses=[0.1, 0.9]),
    *make_arm("vaf-relu", [0.7, 0.8], losses=[0.2, 0.3]),
]


def test_the_better_vaf_of_each_fold_is_held_against_the_fair_relu():
    reports = [*make_arm("relu", [0.5, 0.5]), *VAFS, *make_arm(FAIR_RELU, [0.6, 0.7])]

    found = selected_results(reports, "accuracy")

    either = found["toy", "vaf-either"]
    assert either.scores == (0.6, 0.8)  # the lower validation loss of each fold
    assert either.against == "relu-fair"
    assert either.gains == pytest.approx((0.0, 0.1))
    assert found["toy", "relu-fair"].against == "relu"
    assert found["toy", "vaf-relu"].against == "relu"


@pytest.mark.parametrize(
    "reports",
    [VAFS, [*VAFS[2:], *make_arm(FAIR_RELU, [0.5, 0.5])]],
    ids=["no fair ReLU", "one VAF"],
)
def test_either_needs_both_vafs_and_a_fair_relu(reports):
    assert with_either(reports) == reports


def test_each_random_start_makes_a_pair_with_the_relu_start():
    rescaled = make_arm("vaf-random-rescaled", [0.4, 0.9], losses=[0.1, 0.1])
    reports = [*VAFS, *rescaled, *make_arm(FAIR_RELU, [0.6, 0.7])]

    found = selected_results(reports, "accuracy")

    assert found["toy", "vaf-either"].scores == (0.6, 0.8)
    assert found["toy", "vaf-either-rescaled"].scores == (0.4, 0.9)
    assert found["toy", "vaf-either-rescaled"].against == "relu-fair"
