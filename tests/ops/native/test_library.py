"""Finding the library: absent, broken, of another version."""

import shutil
import types
import warnings

import pytest

from keras_vaf.ops.native import library

pytestmark = pytest.mark.backend("tensorflow")

NAME = "libvaf_kernels.so"
INSTALLED = library.FOLDER


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in place of the folder of the libraries."""
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    library.forget()
    yield tmp_path
    library.forget()


@pytest.fixture
def copy(folder):
    """A copy of the library in that folder."""
    if not (INSTALLED / NAME).exists():
        pytest.skip("The kernels are not compiled.")
    return shutil.copy(INSTALLED / NAME, folder / NAME)


def find_silently():
    with warnings.catch_warnings(action="error"):
        return library.find()


def test_absent_is_silent(folder):
    assert find_silently() == (None, None, "they were not compiled", ())


def test_absent_says_what_the_build_left(folder):
    (folder / "missing.txt").write_text("no compiler")
    assert find_silently() == (None, None, "no compiler", ())


def test_broken_warns_once(folder):
    (folder / NAME).write_text("x" * 100)
    with pytest.warns(RuntimeWarning, match="not usable"):
        found = library.find()
    assert found.library is None and NAME in found.reason
    assert find_silently() is found


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_an_incomplete_file_is_refused(copy, monkeypatch, share):
    """Loading one would end the process with a bus error."""
    whole = copy.read_bytes()
    copy.write_bytes(whole[: int(share * len(whole))])
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("The file is loaded."))
    with pytest.warns(RuntimeWarning, match=r"libvaf_kernels\.so is incomplete"):
        assert library.find().library is None


def test_another_interface_is_refused(copy, monkeypatch):
    other = types.SimpleNamespace(vaf_interface=lambda: 99)
    monkeypatch.setattr("ctypes.CDLL", lambda _: other)
    with pytest.warns(RuntimeWarning, match="has version 99 of the interface"):
        assert library.find().library is None
