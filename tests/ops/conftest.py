"""Fixtures of the tests of the equation."""

import keras
import pytest

from keras_vaf.ops.backends import choice


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    """Test this package's gradient with small inputs, except in `test_small.py`."""
    for limit in ("SMALL", "MEDIUM", "MEDIUM_SMOOTH"):
        monkeypatch.setattr(choice, limit, -1)


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
