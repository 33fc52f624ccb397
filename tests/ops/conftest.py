"""Fixtures of the tests of the equation."""

import keras
import pytest


@pytest.fixture
def uncompiled():
    """On TensorFlow, run the operation step by step: XLA takes a second to compile."""
    if keras.backend.backend() != "tensorflow":
        yield
        return
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)
