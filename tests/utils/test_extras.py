"""An optional package is imported, or the line that installs it is named."""

import pytest

from keras_vaf.utils import require

pytestmark = pytest.mark.backend("tensorflow")


def test_a_missing_package_names_the_line_that_installs_it():
    with pytest.raises(
        ImportError,
        match=r"`no_such\.part` needs the package `no_such`.*"
        r"pip install 'keras-vaf\[plot\]'",
    ) as caught:
        require("no_such.part", extra="plot")
    assert caught.value.name == "no_such"


def test_a_package_that_the_module_needs_is_named(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ImportError, match=r"`half_installed` needs the package `no_such_dependency`"
    ):
        require("half_installed", extra="tune")


def test_a_broken_module_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        require("broken_module", extra="tune")
