"""The notebooks run from top to bottom, and are committed with what they print."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

# They run on every backend; PyTorch compiles nothing, which is most of the time here.
pytestmark = pytest.mark.backend("torch")

FOLDER = Path(__file__).parents[2] / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))

# What the cell tagged `parameters` says in a test, where results do not matter.
SMALL = {"ROWS": 200, "EPOCHS": 2}


def read(path):
    return nbformat.read(path, as_version=4)


def shrunk(book):
    """Return a notebook with small numbers in its cell of constants."""
    (cell,) = (c for c in book.cells if "parameters" in c.metadata.get("tags", ()))
    names = re.findall(r"^(\w+) = \d+$", cell.source, re.M)
    assert names
    cell.source = "\n".join(f"{name} = {SMALL[name]}" for name in names)
    return book


def test_there_are_notebooks():
    assert PATHS


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    NotebookClient(
        shrunk(read(path)), timeout=120, resources={"metadata": {"path": tmp_path}}
    ).execute()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_it_ran(path):
    nbformat.validate(read(path))
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert all(output.output_type != "error" for output in outputs)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_opens_in_colab_and_installs_what_is_missing(path):
    first, install, *_ = read(path).cells
    assert "colab-badge.svg" in first.source
    assert 'find_spec("keras_vaf") is None' in install.source
    assert "%pip install" in install.source
