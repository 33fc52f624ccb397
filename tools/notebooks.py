"""Run the notebooks whole, and keep what they print, without traces of this machine.

`python -m tools.notebooks [NAME...]` runs those that are named, or all. Once
`published` is true in `mkdocs.yml`, the first cell installs the package in one line.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from keras_vaf.utils import write_atomically

FOLDER = Path(__file__).parents[1] / "notebooks"
# Log lines of TensorFlow and XLA about the machine, which Colab does not show.
_LOG = r"^(?:WARNING: All log messages before absl|[IWE]\d{4} \d\d:).*\n"


def execute(book, folder, **variables):
    """Run a notebook in a folder, with its outputs put into it."""
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    client = NotebookClient(
        book,
        timeout=1800,
        startup_timeout=600,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": folder}},
    )
    client.execute(env=os.environ | {"PATH": commands} | variables)


def tidy(book):
    """Update the installation, and remove traces of the machine."""
    if "published: true" in (FOLDER.parent / "mkdocs.yml").read_text("utf-8"):
        [extras] = re.findall(r"%pip install .*\[(.*)\]", book.cells[1].source)
        book.cells[1].source = f'%pip install --quiet "keras-vaf[{extras}]"'
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"
        cell.outputs = [o for o in cell.get("outputs", ()) if not _is_log(o)]
        if cell.cell_type != "code":
            del cell["outputs"]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}


def _is_log(output):
    text = output.get("text", "") if output.get("name") == "stderr" else "kept"
    return not re.sub(_LOG, "", text, flags=re.M).strip()


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.stem in (sys.argv[1:] or [path.stem]):
            book = nbformat.read(path, as_version=4)
            with tempfile.TemporaryDirectory() as folder:
                execute(book, folder, KERAS_BACKEND="tensorflow")
            tidy(book)
            write_atomically(path, nbformat.writes(book) + "\n")
