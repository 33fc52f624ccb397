"""Tests with and without the native kernels."""

import pytest

from keras_vaf.ops import switches
from keras_vaf.ops.native.library import find


@pytest.fixture
def kernels(monkeypatch):
    """Undo the fixture of all tests that leaves the kernels out."""
    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    if find().library is None:
        pytest.skip(find().reason)


@pytest.fixture(params=("formula", "kernels"))
def form(request):
    """Use the plain formula, and then the native kernels."""
    if request.param == "kernels":
        request.getfixturevalue("kernels")
    return request.param
