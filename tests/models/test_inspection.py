"""The list of a model's trainable activations."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import PELU, VAFActivation
from keras_vaf.models.formulas.nearest import inspect_activations

pytestmark = pytest.mark.backend("tensorflow")


def test_lists_every_trainable_activation():
    model = keras.Sequential(
        [
            keras.Input((4,)),
            VAFActivation(k=2, initialization="relu", name="first"),
            keras.layers.Dense(3, activation=PELU(sharing="channel"), name="dense"),
        ]
    )

    model(np.ones((1, 4)))  # builds the activation inside Dense

    first, second = inspect_activations(model)

    assert first[:4] == ("first", "VAFActivation(k=2)", "layer", 7)
    assert str(first.nearest).startswith("relu, largest error")
    assert second.path.startswith("dense")
    assert second[1:4] == ("PELU", "channel", 6)


def test_a_model_without_any_is_refused():
    model = keras.Sequential([keras.Input((4,)), keras.layers.ReLU()])
    with pytest.raises(ValueError, match="trainable activation"):
        inspect_activations(model)
