"""Every start is in the contract tests, and pinned by name."""

import inspect
from pathlib import Path

import keras
import pytest

from keras_vaf import initializers
from keras_vaf.initializers import Start
from tests.initializers.test_contract import STARTS

pytestmark = pytest.mark.backend("tensorflow")

TESTS = Path(__file__).parents[1]

CLASSES = [
    value
    for value in map(initializers.__dict__.get, initializers.__all__)
    if inspect.isclass(value) and issubclass(value, Start) and value is not Start
]


def test_the_examples_are_one_of_each_start():
    missing = {*CLASSES} ^ {*map(type, STARTS)}
    assert not missing, f"in STARTS of tests/initializers/test_contract.py: {missing}"
    assert len({*map(type, STARTS)}) == len(STARTS)


def test_registered_names_are_pinned():
    pins = (TESTS / "saving" / "test_registered_names.py").read_text()
    lines = [f'"{keras.saving.get_registered_name(start)}",' for start in CLASSES]
    assert not [line for line in lines if line not in pins]
