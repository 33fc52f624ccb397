"""A network can be trained from several random starts."""

import pytest

from keras_vaf.experiments import Protocol, find_variants
from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer

pytestmark = pytest.mark.backend("tensorflow")


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
