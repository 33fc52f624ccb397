"""Finding the library: absent, broken, of another version."""

import sys
import types
import warnings

import pytest

from keras_vaf.ops.native import library

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def package(monkeypatch):
    """Install a package in place of `keras-vaf-kernels`; `None` hides it."""

    def install(module):
        monkeypatch.setitem(sys.modules, "keras_vaf_kernels", module)
        library.forget()

    yield install
    library.forget()


def fake(load):
    module = types.ModuleType("keras_vaf_kernels")
    module.__version__, module.FOLDER, module.load = "0.0.9", ".", load
    return module


def test_absent_is_silent(package):
    package(None)
    with warnings.catch_warnings(action="error"):
        found = library.find()
    assert found == (None, None, "", "keras-vaf-kernels is not installed")


def test_broken_warns_once(package):
    def load():
        raise OSError("libvaf_kernels.so: file too short")

    package(fake(load))
    with pytest.warns(RuntimeWarning, match=r"0\.0\.9 is not usable.*too short"):
        found = library.find()
    assert found.library is None and "too short" in found.reason
    with warnings.catch_warnings(action="error"):
        assert library.find() is found


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_an_incomplete_file_is_refused(package, tmp_path, share):
    """Loading one would end the process with a bus error."""
    installed = library.find().folder
    if installed is None:
        pytest.skip("The kernels are not installed.")
    whole = (installed / "libvaf_kernels.so").read_bytes()
    (tmp_path / "libvaf_kernels.so").write_bytes(whole[: int(share * len(whole))])
    module = fake(lambda: pytest.fail("The file is loaded."))
    module.FOLDER = tmp_path
    package(module)
    with pytest.warns(RuntimeWarning, match=r"libvaf_kernels\.so is incomplete"):
        assert library.find().library is None


def test_another_interface_is_refused(package):
    package(fake(lambda: types.SimpleNamespace(vaf_interface=lambda: 99)))
    with pytest.warns(RuntimeWarning, match="has version 99 of the interface"):
        assert library.find().library is None


def test_something_else_of_that_name_is_refused(package):
    package(types.ModuleType("keras_vaf_kernels"))
    with pytest.warns(RuntimeWarning, match="not usable"):
        assert library.find().library is None
