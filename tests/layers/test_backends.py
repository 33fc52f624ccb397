"""A model of all layers, saved on one backend, predicts the same on each other one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.layers.family import ACTIVATIONS
from tests.saving.one_backend import BACKENDS

pytestmark = [
    pytest.mark.backend("torch"),
    pytest.mark.needs("tensorflow", "jax"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of what three processes, one a backend, made of each other's files."""
    folder = tmp_path_factory.mktemp("family")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.layers.one_backend", str(folder)],
            env={**os.environ, "KERAS_BACKEND": backend},
            cwd=Path(__file__).parents[2],
        )
        for backend in BACKENDS
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    return folder


@pytest.mark.parametrize("loaded_on", BACKENDS)
@pytest.mark.parametrize("saved_on", BACKENDS)
def test_predictions_agree(folder, saved_on, loaded_on):
    saved = np.load(folder / f"{saved_on}.npz")
    loaded = np.load(folder / f"{saved_on}_on_{loaded_on}.npz")
    assert len(saved.files) == len(ACTIVATIONS) + 2
    for name in saved.files:
        np.testing.assert_allclose(loaded[name], saved[name], rtol=1e-5, atol=1e-5)
