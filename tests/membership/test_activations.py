"""Every activation is in `keras_vaf.layers.ACTIVATIONS`, and in every list below.

A failure names the line to add and its file.
"""

import importlib
import pkgutil
from pathlib import Path

import keras
import pytest

from keras_vaf import layers
from keras_vaf.experiments.arms import ARMS

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
MEMBERS = {member.layer.__name__: member for member in layers.ACTIVATIONS}
BASE = "TrainableActivation"
TUPLE = "ACTIVATIONS in keras_vaf/layers/__init__.py"


def defined():
    """Return the names of all layers that the package defines in `keras_vaf.layers`."""
    for module in pkgutil.walk_packages(layers.__path__, "keras_vaf.layers."):
        importlib.import_module(module.name)
    found, waiting = set(), [keras.layers.Layer]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        waiting += kinds
        found |= {k.__name__ for k in kinds if k.__module__.startswith("keras_vaf.la")}
    return found - {BASE}


def test_every_layer_is_a_member():
    missing = sorted(defined() - {*MEMBERS})
    assert not missing, f'Add `Member({missing[0]}, "name", "Title")` to {TUPLE}.'
    missing = {*MEMBERS, BASE} ^ {*layers.__all__}
    assert not missing, f"`__all__` in keras_vaf/layers/__init__.py: {missing}"


@pytest.mark.parametrize("name", MEMBERS)
def test_it_is_compared_if_it_acts_on_each_element_and_documented(name):
    member = MEMBERS[name]
    needed = issubclass(member.layer, layers.TrainableActivation)
    named = bool(member.name and member.title)
    assert named == needed, f"Give `Member({name}, ...)` in {TUPLE} a name and a title."
    rows = (ROOT / "docs" / "family.md").read_text(encoding="utf-8").splitlines()
    place = "layers" if name == "VAFActivation" else "family"
    first = f"| [`{name}`](reference/{place}.md#keras_vaf.layers.{name})<br>"
    line = f"{first}paper | f(a) | parameters | sharing | start |"
    found = any(row.startswith(first) for row in rows)
    assert found, f"Add a row to the first table of docs/family.md: {line}"
    for part in ("Formula", "Reference:", ">>> "):
        assert part in member.layer.__doc__, f"Add {part!r} to {name}."


def test_names_and_titles_differ():
    rows = [row for member in layers.ACTIVATIONS for row in member.rows]
    for values in zip(*(row[:2] for row in rows), strict=True):
        assert len(set(values)) == len(values)
    compared = {name for name, member in MEMBERS.items() if member.name}
    assert compared <= {arm.layer for arm in ARMS.values()}
