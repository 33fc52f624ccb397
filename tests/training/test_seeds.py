"""Seeds of independent streams, and of the global generators."""

import random
import threading

import keras
import numpy as np
import pytest

from keras_vaf.training.seeds import independent_seeds, seeded

pytestmark = pytest.mark.backend("tensorflow")


def test_seeds_differ_for_every_sequence_of_keys():
    keys = [(0, 1), (1, 0), (0, "1"), (0, 1, "split"), (0, 1, "shuffling")]
    assert len({independent_seeds(*each)[0] for each in keys}) == len(keys)
    assert len(set(independent_seeds(0, count=9))) == 9


def kernels(draw_elsewhere=lambda: None):
    """Return the kernels of two layers, between which another thread may draw."""
    layers = []
    for _ in range(2):
        thread = threading.Thread(target=draw_elsewhere)
        thread.start()
        thread.join()
        layers.append(keras.layers.Dense(3))
        layers[-1].build((None, 2))
    return [keras.ops.convert_to_numpy(layer.kernel) for layer in layers]


@pytest.mark.parametrize("draw", [random.random, lambda: random.randint(0, 9)])
def test_other_threads_do_not_change_the_start_of_a_model(draw):
    found = []
    for each in (lambda: None, draw):
        with seeded(3):
            found.append(kernels(each))

    np.testing.assert_array_equal(found[0], found[1])
    assert np.any(found[0][0] != found[0][1])


def test_numbers_are_those_of_the_seed():
    def drawn():
        return random.getrandbits(31), random.random(), *np.ravel(kernels())

    with seeded(3):
        found = drawn()
    keras.utils.set_random_seed(3)

    assert found == drawn()


def test_the_generator_is_given_back_after_an_error():
    shared = random.randint, random.random, random.seed
    with pytest.raises(KeyError), seeded(3):
        raise KeyError
    assert (random.randint, random.random, random.seed) == shared
