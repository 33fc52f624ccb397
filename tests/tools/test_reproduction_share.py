"""Trainings that were run are counted."""

import dataclasses

import pytest

from keras_vaf.datasets import load
from keras_vaf.research.paper import Form, find_experiment
from tests.experiments.fakes import make_report
from tools.reproduction_share import STAGES, Share, markdown, share_of

pytestmark = pytest.mark.backend("tensorflow")

PAPER = STAGES[0]


@pytest.fixture(scope="module")
def wine():
    """The classification of the paper, on Wine alone."""
    experiment = find_experiment("classification")
    return dataclasses.replace(experiment, datasets=("wine",))


def test_what_has_a_report_is_run(wine):
    protocols = wine.protocols(load("wine"), Form("paper"))
    report = make_report(
        protocol=dataclasses.replace(protocols[0], replicas=10), seconds=3.0
    )
    one = dataclasses.replace(protocols[0], replicas=1)

    share = share_of(wine, PAPER, {(one.digest, 0, 0): report})

    # Ten architectures, four activations and a ReLU of two starts, folds, seeds.
    assert share.trainings == 10 * (4 + 2) * 10 * 3
    assert (share.run, share.seconds) == (1, 3.0)


def test_the_table_has_shares_and_hours():
    table = markdown({("classification", "ours"): Share(4, 2, 5400.0)})
    assert table.endswith("| classification | ours | 4 | 2 | 50% | 1.5 |\n")
