"""The notebooks run from top to bottom, and are committed with what they print."""

import re

import nbformat
import pytest

from tools.notebooks import FOLDER, execute, tidy

PATHS = sorted(FOLDER.glob("*.ipynb"))

pytestmark = pytest.mark.backend("torch")

# Where a notebook runs: most on any backend, and so on PyTorch, which compiles nothing.
BACKENDS = {
    "3_search": "jax",  # chosen in the notebook
    "4_your_own_model": "tensorflow",  # it writes a SavedModel
    "5_reproduction": "jax",  # chosen in the notebook
}
RUN = [
    pytest.param(
        path, marks=pytest.mark.backend(BACKENDS.get(path.stem, "torch")), id=path.stem
    )
    for path in PATHS
]

# Values of the cell tagged `parameters` in a test, where results do not matter.
SMALL = {"ROWS": 200, "EPOCHS": 2, "TRIALS": 2, "SEEDS": 1}

# Nothing can be fetched: a closed port of this machine stands for the internet.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")

NOISE = re.compile(r".*(?:[Ww]arning|(?<![\w.])/(?:tmp|home|root|work)/).*")

every_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def shrunk(book):
    """Return a notebook with small numbers in its cell of constants."""
    (cell,) = (c for c in book.cells if "parameters" in c.metadata.get("tags", ()))
    names = re.findall(r"^(\w+) = \d+$", cell.source, re.M)
    assert names
    cell.source = "\n".join(f"{name} = {SMALL[name]}" for name in names)
    return book


def outputs(path):
    return [output for cell in read(path).cells for output in cell.get("outputs", ())]


def printed(outputs):
    """Return all text of outputs, pictures left out."""
    texts = [output.get("text", "") for output in outputs]
    texts += [
        text
        for output in outputs
        for kind, text in output.get("data", {}).items()
        if kind != "image/png"
    ]
    return "\n".join(texts)


@pytest.mark.nightly
@pytest.mark.parametrize("path", RUN)
def test_a_notebook_runs_without_the_internet(path, tmp_path):
    book = shrunk(read(path))
    nowhere = {"KERAS_VAF_DATA_DIR": "", "KERAS_HOME": str(tmp_path / "keras")}

    execute(book, tmp_path, **OFFLINE, **nowhere)  # raises the errors of cells


@every_notebook
def test_a_notebook_is_committed_as_it_ran_without_a_trace_of_a_machine(path):
    book = read(path)
    nbformat.validate(book)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any("image/png" in output.get("data", {}) for output in outputs(path))
    for output in outputs(path):
        assert output.output_type != "error" and output.get("name") != "stderr"
    assert NOISE.findall(printed(outputs(path))) == []
    tidy(book)
    assert book == read(path)


def installed(cell, monkeypatch, folder, found=False):
    """Return the arguments of pip when a cell runs in a folder."""
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(folder)
    spec = object() if found else None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    shell, lines = InteractiveShell(), []
    shell.register_magic_function(lines.append, magic_name="pip")
    shell.run_cell(cell.source).raise_error()
    return lines


@every_notebook
def test_the_first_cell_installs_an_uploaded_file(path, tmp_path, monkeypatch):
    install = read(path).cells[1]
    assert installed(install, monkeypatch, tmp_path, found=True) == []
    with pytest.raises(FileNotFoundError, match=r"Upload keras_vaf-.*\.tar\.gz"):
        installed(install, monkeypatch, tmp_path)
    (tmp_path / "keras_vaf-0.2.0.tar.gz").touch()
    (line,) = installed(install, monkeypatch, tmp_path)
    assert line.startswith('install --quiet "./keras_vaf-0.2.0.tar.gz[')
    (tmp_path / "keras_vaf-0.2.0-py3-none-any.whl").touch()
    (line,) = installed(install, monkeypatch, tmp_path)
    assert line.startswith('install --quiet "./keras_vaf-0.2.0-py3-none-any.whl[')
