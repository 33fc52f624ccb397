"""Tests of modules of PyTorch, on its backend, with and without the native kernels."""

import keras
import pytest

from keras_vaf.ops import switches
from keras_vaf.ops.native.library import find

# TensorFlow and PyTorch in one process may end in a segmentation fault.
collect_ignore_glob = [] if keras.backend.backend() == "torch" else ["*.py"]


@pytest.fixture(params=("formula", "kernels"))
def form(request, monkeypatch):
    """Use the plain formula, and then the native kernels."""
    if request.param == "kernels":  # which the fixture of all tests leaves out
        monkeypatch.setattr(switches._without_kernels, "is_on", False)
        if find().library is None:
            pytest.skip(find().reason)
    return request.param
