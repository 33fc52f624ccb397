"""An optional package is imported, or the line that installs it is named."""

import pytest

from keras_vaf.utils import require

pytestmark = pytest.mark.backend("tensorflow")


def test_a_missing_package_names_the_line_that_installs_it(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such.part\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("no_such.part", "half_installed"):
        message = rf"`{name}` needs the package `no_such`.*pip install 'keras-vaf\[plot"
        with pytest.raises(ImportError, match=message) as caught:
            require(name, extra="plot")
        assert caught.value.name == "no_such"


def test_a_broken_module_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        require("broken_module", extra="tune")
