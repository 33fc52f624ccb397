"""Every start is in the contract tests, and pinned by name."""

import inspect

import pytest

from keras_vaf import initializers
from keras_vaf.initializers import Start
from tests.initializers.test_contract import STARTS

pytestmark = pytest.mark.backend("tensorflow")

CLASSES = [
    value
    for value in map(initializers.__dict__.get, initializers.__all__)
    if inspect.isclass(value) and issubclass(value, Start) and value is not Start
]


def test_the_examples_are_one_of_each_start():
    missing = {*CLASSES} ^ {*map(type, STARTS)}
    assert not missing, f"in STARTS of tests/initializers/test_contract.py: {missing}"
    assert len({*map(type, STARTS)}) == len(STARTS)
