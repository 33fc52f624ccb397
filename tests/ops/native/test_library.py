"""Finding the library: absent, broken, of another version."""

import ctypes
import shutil
import sys
import types
import warnings

import keras
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import info
from keras_vaf.ops.native import library
from keras_vaf.ops.native.library import TRIED
from tests.ops.native.harness import python

NAME = "libvaf_kernels.so"
INSTALLED = library.FOLDER


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in place of the folder of the libraries."""
    found = library.find()
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    library._found = None
    yield tmp_path
    library._found = found  # `torch.compile` cannot follow a search


@pytest.fixture
def copy(folder):
    """A copy of the library in that folder."""
    if not (INSTALLED / NAME).exists():
        pytest.skip("The kernels are not compiled.")
    return shutil.copy(INSTALLED / NAME, folder / NAME)


def find_silently():
    with warnings.catch_warnings(action="error"):
        return library.find()


@pytest.mark.backend("tensorflow")
def test_absent_is_silent_and_says_what_the_build_left(folder):
    assert find_silently() == (None, "they were not compiled")
    library._found = None
    (folder / "missing.txt").write_text("no compiler")
    assert find_silently() == (None, "no compiler")


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_an_incomplete_file_is_refused_once(copy, monkeypatch, share):
    """Loading one would end the process with a bus error."""
    whole = copy.read_bytes()
    copy.write_bytes(whole[: int(share * len(whole))])
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("The file is loaded."))
    with pytest.warns(RuntimeWarning, match=r"not usable.*kernels\.so is incomplete"):
        found = library.find()
    assert found.library is None and find_silently() is found


@pytest.mark.backend("tensorflow")
def test_another_interface_is_refused(copy, monkeypatch):
    other = types.SimpleNamespace(vaf_interface=lambda: 99)
    monkeypatch.setattr("ctypes.CDLL", lambda _: other)
    with pytest.warns(RuntimeWarning, match="has version 99 of the interface"):
        assert library.find().library is None


@pytest.mark.parametrize("version", ["0.1.0", "99.0"])
def test_an_untried_framework_is_left_alone(copy, monkeypatch, binding, version):
    """On every backend, nothing is loaded, registered or used, and `info` says why."""
    backend = keras.backend.backend()
    library._found = None
    monkeypatch.setattr(sys.modules[backend], "__version__", version)
    load = ctypes.CDLL

    def others(path, *rest):  # PyTorch looks for the libraries of a GPU
        assert "vaf" not in str(path)
        return load(path, *rest)

    monkeypatch.setattr("ctypes.CDLL", others)
    lowest, highest = TRIED[backend]
    reason = (
        f"they were tried with {backend} from {lowest} to {highest}, and {version} is "
        "installed"
    )
    assert binding.inactive() == reason
    layer = VAFActivation()
    layer(keras.ops.ones((2, 3)), training=True)
    assert find_silently() == library.Found(None, reason)
    assert info()["native kernels"] == f"not active: {reason}"


def test_the_variable_switches_a_process_and_its_children_off():
    """Only the value 0 does so."""
    code = "from keras_vaf.ops import info; print(info()['native kernels'])"
    child = f"import subprocess; subprocess.run([{sys.executable!r}, '-c', {code!r}])"
    printed = python("-c", child, KERAS_VAF_KERNELS="0")
    assert printed == "not active: the environment variable KERAS_VAF_KERNELS is 0\n"
