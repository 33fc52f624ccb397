"""The examples in the docstrings run."""

import doctest
import importlib

import keras
import numpy as np
import pytest

import keras_vaf
from tests.harness import package_modules

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstring_examples():
    """Return the docstrings of the package that have examples."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [
        example
        for module in package_modules()
        for example in finder.find(module, extraglobs=known_names(module.__name__))
        if example.examples
    ]


def known_names(module):
    """Return what an example need not import: what its package offers, and NumPy."""
    parts = module.split(".")
    package = importlib.import_module(".".join(parts[:2]))
    offered = {name: getattr(package, name) for name in getattr(package, "__all__", ())}
    return {**offered, "keras": keras, "keras_vaf": keras_vaf, "np": np}


def case(example):
    """Return an example with its marks: those of some packages train networks."""
    trains = example.name.split(".")[1] in {"experiments", "paper", "sklearn", "tuners"}
    late = pytest.mark.nightly("tensorflow", "jax")  # which compile each training
    return pytest.param(example, id=example.name, marks=[late] * trains)


@pytest.mark.parametrize("example", [*map(case, docstring_examples())])
def test_docstring(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    if report:
        pytest.fail("".join(report), pytrace=False)
