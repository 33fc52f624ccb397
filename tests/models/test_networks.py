"""The paper's fully connected networks."""

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp


def test_starts_at_the_same_kernels_whatever_the_activation():
    def kernels(activation, seed):
        model = mlp(4, (6, 5), 3, activation=activation, seed=seed)
        return [layer.get_weights()[0] for layer in model.layers[::2]]

    relu, vaf = kernels(keras.layers.ReLU, 1), kernels(VAFActivation, 1)
    other = kernels(keras.layers.ReLU, 2)

    for first, second, third in zip(relu, vaf, other, strict=True):
        np.testing.assert_array_equal(first, second)
        assert np.all(first != third)
    # Layers of equal shape start differently, and each has its own activation.
    model = mlp(5, (5, 5), 5, activation=VAFActivation)
    first, second, third = (layer.get_weights()[0] for layer in model.layers[::2])
    assert np.all(first != second) and np.all(second != third)
    assert model.layers[1] is not model.layers[3]
