"""Seeds of independent streams."""

import pytest

from keras_vaf.training.seeds import independent_seeds

pytestmark = pytest.mark.backend("tensorflow")


def test_seeds_differ_for_every_sequence_of_keys():
    keys = [(0, 1), (1, 0), (0, "1"), (0, 1, "split"), (0, 1, "shuffling")]
    assert len({independent_seeds(*each)[0] for each in keys}) == len(keys)
    assert len(set(independent_seeds(0, count=9))) == 9
