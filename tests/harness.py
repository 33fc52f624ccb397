"""What several test files share: Keras's private helpers, and the public names."""

import importlib
import pkgutil

from keras.src.testing import TestCase

import keras_vaf

check_layer = TestCase().run_layer_test
check_serialization = TestCase().run_class_serialization_test


def public_names():
    """Return every object that a package's `__all__` names, by its dotted name."""
    packages = (
        importlib.import_module(f"keras_vaf.{module.name}")
        for module in pkgutil.iter_modules(keras_vaf.__path__)
        if module.ispkg
    )
    return {
        f"{package.__name__}.{name}": getattr(package, name)
        for package in packages
        for name in package.__all__
    }
