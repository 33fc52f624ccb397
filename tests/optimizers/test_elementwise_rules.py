"""Activation parameters are updated element by element, whatever their shape."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.optimizers import activations_apart
from keras_vaf.optimizers.separate_learning_rate import ActivationsApart

pytestmark = pytest.mark.backend("torch")

kinds = keras.optimizers
NAMES = (
    *("SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "Nadam"),
    *("Ftrl", "Lion", "Lamb", "Muon", "ScheduleFreeAdamW"),
)
# Adafactor keeps the means of rows and columns of matrices. The others wrap optimizers.
NOT_TRIED = {"Adafactor", "Optimizer", "LossScaleOptimizer", "MultiOptimizer"}
# Older versions of Keras lack some of them.
OPTIMIZERS = [getattr(kinds, name) for name in NAMES if hasattr(kinds, name)]


def test_every_optimizer_of_keras_is_tried():
    found = {
        name
        for name, each in vars(kinds).items()
        if isinstance(each, type) and issubclass(each, kinds.Optimizer)
    }
    assert found - NOT_TRIED <= {*NAMES}


def moved(kind, shape):
    """Return an activation parameter of a given shape after four steps."""
    generator = np.random.default_rng(0)
    start = generator.normal(size=(4, 6)).astype("float32")
    variable = keras.Variable(start.reshape(shape), name="alpha")
    optimizer = ActivationsApart(kind(0.1, weight_decay=0.1), [True])
    for _ in range(4):
        gradient = generator.normal(size=(4, 6)).astype("float32").reshape(shape)
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [variable])
    return keras.ops.convert_to_numpy(variable.value).reshape(4, 6) - start


@pytest.mark.parametrize("kind", OPTIMIZERS, ids=lambda kind: kind.__name__)
def test_a_matrix_moves_as_its_elements_in_a_row(kind):
    matrix = moved(kind, (4, 6))
    assert np.any(matrix != 0)
    np.testing.assert_allclose(matrix, moved(kind, (24,)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_muon_still_orthogonalizes_kernels(sharing):
    layers = [keras.layers.Dense(6), VAFActivation(sharing=sharing)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    optimizer = activations_apart(model, kinds.Muon())
    model.compile(optimizer, "mse")
    model.fit(np.ones((8, 4)), np.ones((8, 6)), epochs=1, verbose=0)
    assert not optimizer.optimizer._should_use_adamw(layers[0].kernel)
    by_elements = optimizer.activation_optimizer._should_use_adamw
    assert all(map(by_elements, layers[1].trainable_weights))
