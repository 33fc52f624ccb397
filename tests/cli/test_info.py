"""`keras-vaf info`: versions, devices, and the state of the native kernels."""

import os
import subprocess
import sys

import keras
import pytest

from keras_vaf.ops import info, plain_operators

LINES = ["keras_vaf", "keras", "numpy", "python", "backend", "devices", "processors"]


def test_what_is_shown_is_what_python_says(run):
    code, output, _ = run("info")
    assert code == 0
    shown = dict(line.split(None, 1) for line in output.splitlines())
    assert all(shown[name] for name in LINES)
    assert shown["keras"] == keras.__version__
    assert "native kernels  " in output
    assert len(output.splitlines()) < 20
    assert all(value in output for value in info().values())
    with plain_operators():
        assert "plain_operators() is in effect" in run("info")[1]


@pytest.mark.backend("tensorflow")
def test_without_a_backend_it_says_so(tmp_path):
    (tmp_path / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "keras_vaf_cli", "info"],
        env=os.environ | {"PYTHONPATH": path, "KERAS_BACKEND": "torch"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert f"keras      {keras.__version__}" in done.stdout
    assert "not usable: Keras is set to use the backend 'torch'" in done.stdout
