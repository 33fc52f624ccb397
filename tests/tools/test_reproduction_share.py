"""Trainings that were run are counted, and the others estimated by their size."""

import dataclasses

import pytest

from keras_vaf.datasets import load
from keras_vaf.experiments.protocol import Architecture
from keras_vaf.research.paper import Form, find_experiment
from tests.experiments.fakes import make_protocol, make_report, make_trial
from tools.reproduction_share import (
    STAGES,
    Share,
    markdown,
    paces,
    share_of,
)

pytestmark = pytest.mark.backend("tensorflow")

PAPER = STAGES[0]


@pytest.fixture(scope="module")
def wine():
    """The classification of the paper, on Wine alone."""
    experiment = find_experiment("classification")
    return dataclasses.replace(experiment, datasets=("wine",))


def test_what_has_a_report_is_run_and_the_rest_is_estimated(wine):
    protocols = wine.protocols(load("wine"), Form("paper"))
    report = make_report(
        protocol=dataclasses.replace(protocols[0], replicas=10),
        rows={"train": 100, "validation": 20, "test": 20},
        trials=(make_trial(epochs=300),),
        seconds=3.0,
        flops=1_000,
    )
    one = dataclasses.replace(protocols[0], replicas=1)
    pace = paces([report])
    assert pace == {("mlp", "", "Rprop"): pytest.approx((3.0 / (100 * 300), 3_000))}

    share = share_of(wine, PAPER, {(one.digest, 0, 0): report}, pace)

    # Ten architectures, four activations and a ReLU of two starts, folds, seeds.
    assert share.trainings == 10 * (4 + 2) * 10 * 3
    assert (share.run, share.seconds) == (1, 3.0)
    # 178 rows less a tenth for test and a fifth of the rest for validation: 128.
    assert share.left == pytest.approx((share.trainings - 1) * 3.0 * 1.28)
    assert share.left_flops == pytest.approx((share.trainings - 1) * 128 * 300 * 3_000)


def image_report(dataset, seconds):
    """Return the report of a convolutional network that saw ten images once."""
    protocol = make_protocol(dataset=dataset, architecture=Architecture("cnet"))
    return make_report(
        protocol=protocol,
        rows={"train": 10, "validation": 5, "test": 5},
        trials=(make_trial(epochs=1),),
        seconds=seconds,
    )


def test_the_pace_of_images_is_that_of_images_as_large():
    pace = paces([image_report("small", 10.0), image_report("large", 30.0)])

    assert {kind[:2]: each.seconds for kind, each in pace.items()} == {
        ("cnet", "small"): 1.0,
        ("cnet", "large"): 3.0,
    }


def test_what_nothing_is_known_of_is_said_to_be_unknown(wine):
    share = share_of(wine, STAGES[1], {}, {})
    assert "| 0% | 0.0 | unknown | unknown |" in markdown(
        {("classification", "ours"): share}
    )
    known = Share(4, 2, 3600, 7200, 3e15)
    assert "| 50% | 1.0 | 2.0 | 3.0 |" in markdown({("a", "b"): known})
