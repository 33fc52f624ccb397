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
PINS = TESTS / "saving" / "test_registered_names.py"

CLASSES = [
    value
    for value in map(initializers.__dict__.get, initializers.__all__)
    if inspect.isclass(value) and issubclass(value, Start) and value is not Start
]

each = pytest.mark.parametrize("start", CLASSES, ids=lambda start: start.__name__)


@each
def test_has_an_example(start):
    line = f"{start.__name__}(...),"
    assert start in map(type, STARTS), (
        f"add to STARTS in tests/initializers/test_contract.py: {line}"
    )


def test_every_example_is_of_another_public_start():
    assert len({type(start) for start in STARTS}) == len(STARTS)
    assert {type(start) for start in STARTS} == set(CLASSES)


@each
def test_its_registered_name_is_pinned(start):
    line = f'"{keras.saving.get_registered_name(start)}",'
    assert line in PINS.read_text(), f"add to {PINS.name}: {line}"
