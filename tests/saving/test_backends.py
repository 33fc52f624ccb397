"""A model saved on one backend predicts the same, and trains on, on each other one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.saving.one_backend import BACKENDS

pytestmark = [pytest.mark.backend("torch"), pytest.mark.needs("tensorflow", "jax")]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Folder in which three processes, one per backend, loaded each other's files."""
    folder = tmp_path_factory.mktemp("backends")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.saving.one_backend", str(folder)],
            env={**os.environ, "KERAS_BACKEND": backend},
            cwd=Path(__file__).parents[2],
        )
        for backend in BACKENDS
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    return {
        backend: json.loads((folder / f"results_{backend}.json").read_text())
        for backend in BACKENDS
    }


@pytest.mark.parametrize("loaded_on", BACKENDS)
@pytest.mark.parametrize("saved_on", BACKENDS)
def test_predictions_agree(results, saved_on, loaded_on):
    saved = results[saved_on]["own"]
    loaded = results[loaded_on][saved_on]
    np.testing.assert_allclose(loaded["whole"], saved, rtol=0, atol=1e-5)
    np.testing.assert_allclose(loaded["json_and_weights"], saved, rtol=0, atol=1e-5)
    pairs = zip(results[saved_on]["family"], loaded["family"], strict=True)
    for one, other in pairs:  # a model of all layers
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loaded_on", BACKENDS)
@pytest.mark.parametrize("saved_on", BACKENDS)
def test_training_goes_on(results, saved_on, loaded_on):
    losses = results[loaded_on][saved_on]["losses"]
    np.testing.assert_allclose(losses, results["jax"]["jax"]["losses"], rtol=1e-4)
    assert losses[-1] < losses[0]


def test_only_pytorch_loads_an_optimizer_of_pytorch(results):
    """Keras would import PyTorch for it, and two frameworks may end the process."""
    for loaded_on in BACKENDS:
        assert ("torch" in results[loaded_on]["frameworks"]) == (loaded_on == "torch")
        for saved_on in BACKENDS:
            compiled = loaded_on == "torch" or saved_on != "torch"
            assert results[loaded_on][saved_on]["compiled"] == compiled
