"""The one doorway to Keras's private test helpers."""

from keras.src.testing import TestCase

check_layer = TestCase().run_layer_test
check_serialization = TestCase().run_class_serialization_test
