"""The native kernels are on in these tests. Without them the tests are skipped."""

import importlib

import keras
import pytest

from keras_vaf.ops import switches
from keras_vaf.ops.native.library import find

LEVELS = (2, 3, 4)  # x86-64-v2, v3 and v4
LOADERS = ("_unusable", "operators", "inactive")


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Undo the fixture of all tests that leaves the kernels out."""
    monkeypatch.setattr(switches._without_kernels, "is_on", False)


@pytest.fixture(scope="session")
def library():
    """The library of the kernels."""
    found = find()
    if found.library is None:
        pytest.skip(found.reason)
    return found.library


@pytest.fixture
def binding():
    """The module of the backend, which loads its kernels again in this test."""
    module = importlib.import_module(f"keras_vaf.ops.on_{keras.backend.backend()}")
    loaders = [getattr(module, name, None) for name in LOADERS]
    caches = [loader for loader in loaders if hasattr(loader, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    yield module
    for cache in caches:
        cache.cache_clear()


@pytest.fixture(params=LEVELS, ids=lambda level: f"v{level}")
def level(request, library):
    """Use each instruction set that the processor has."""
    best = library.vaf_level()
    if not library.vaf_use_level(request.param) or best == 0:
        pytest.skip("The processor lacks this instruction set.")
    yield request.param
    library.vaf_use_level(best)


@pytest.fixture
def used(library):
    """Tell whether a kernel ran since the last call."""
    seen = library.vaf_calls()

    def since():
        nonlocal seen
        before, seen = seen, library.vaf_calls()
        return seen > before

    return since
