"""Run the notebooks whole, and keep what they print and how long they take.

    python -m tools.notebooks
    python -m tools.notebooks 3_search
    python -m tools.notebooks --tidy

Each notebook is written with its outputs and without traces of this machine. Its badge
and its first code cell depend on two settings in `mkdocs.yml`: the address of the
repository, and whether the package is published on the package index.
"""

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from benchmarks.environment import environment
from keras_vaf.utils import markdown_table, write_atomically

FOLDER = Path(__file__).parents[1] / "notebooks"
REPORT = Path("docs/reports/notebooks/seconds.json")

COLAB = "https://colab.research.google.com"

INSTALL = '%pip install --quiet "keras-vaf[{extras}]"'
# Until the package is published: the package index may have a package of this name by
# somebody else, which must not be installed.
UPLOAD = """\
# Installs keras_vaf where it is missing, as on Colab.
import importlib.util
from pathlib import Path

if importlib.util.find_spec("keras_vaf") is None:
    archives = [*Path().glob("keras_vaf-*.whl"), *Path().glob("keras_vaf-*.tar.gz")]
    if not archives:
        raise FileNotFoundError(
            "Upload keras_vaf-VERSION.tar.gz, or a .whl file, into the folder of this "
            "notebook, and run this cell again. `python -m build` in the repository "
            "makes both files."
        )
    %pip install --quiet "./{{archives[0]}}[{extras}]"
"""

# Log lines of TensorFlow and XLA about the machine, which Colab does not show.
_LOG = re.compile(
    r"^(?:WARNING: All log messages before absl|[IWE]\d{4} \d\d:).*\n", re.M
)


def read(path):
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def execute(book, folder, **variables):
    """Run a notebook in a folder, with its outputs put into it."""
    commands = Path(sys.executable).parent
    client = NotebookClient(
        book,
        timeout=1800,
        startup_timeout=600,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": folder}},
    )
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    client.execute(env=os.environ | {"PATH": path} | variables)


def settings():
    """Return the address of the repository, and whether the package is published."""
    text = (FOLDER.parent / "mkdocs.yml").read_text(encoding="utf-8")
    address = re.search(r'^repo_url: !ENV \[\w+, "(.*)"\]$', text, re.M)[1]
    published = re.search(r"^  published: (true|false)$", text, re.M)[1] == "true"
    return address, published


def badge(name, repository):
    """Return the badge that opens a notebook in Colab, or asks for its file."""
    address = f"{COLAB}/#upload=true"
    if repository:
        owner_and_name = repository.rstrip("/").split("/", 3)[3]
        address = f"{COLAB}/github/{owner_and_name}/blob/main/notebooks/{name}.ipynb"
    return f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({address})"


def tidy(book, name):
    """Update the badge and the installation, and remove traces of the machine."""
    repository, published = settings()
    first, install, *_ = book.cells
    first.source = re.sub(
        r"^\[!\[Open in Colab\].*$", badge(name, repository), first.source, flags=re.M
    )
    [extras] = re.findall(r"%pip install .*\[(.*)\]", install.source)
    install.source = (INSTALL if published else UPLOAD).format(extras=extras).rstrip()
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_log(output)]
    book.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }


def _is_log(output):
    return output.get("name") == "stderr" and not _LOG.sub("", output.text).strip()


def table(report):
    """Return the processor seconds of each notebook as a Markdown table."""
    columns = ["notebook", "machine", "processor seconds"]
    lines = []
    for name, row in sorted(report.items()):
        machine = f"{row['processor']}, {row['cores']} cores"
        lines.append([name, machine, str(row["processor seconds"])])
    return markdown_table(columns, lines, text_columns=2) + "\n"


def run(book):
    """Run a notebook in an empty folder, and return how long it took.

    The sum of the processor seconds of all cores is more reliable than the clock when
    other programs run. The load is their average number in the last minute.
    """
    start, spent = time.perf_counter(), _processor_seconds()
    with tempfile.TemporaryDirectory() as folder:
        execute(book, folder, KERAS_BACKEND="tensorflow")
    return {
        "clock seconds": round(time.perf_counter() - start),
        "processor seconds": round(_processor_seconds() - spent),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _write(book, name):
    tidy(book, name)
    write_atomically(FOLDER / f"{name}.ipynb", nbformat.writes(book) + "\n")


def main():
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.notebooks", description=__doc__.splitlines()[0]
    )
    known = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(known)}")
    parser.add_argument(
        "--tidy", action="store_true", help="run nothing; update badges and first cells"
    )
    arguments = parser.parse_args()
    names = arguments.names or known
    if set(names) - set(known):
        parser.error(f"the notebooks are {', '.join(known)}")
    if arguments.tidy:
        for name in names:
            _write(read(FOLDER / f"{name}.ipynb"), name)
        return
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    for name in names:
        book = read(FOLDER / f"{name}.ipynb")
        seconds = run(book)
        _write(book, name)
        report[name] = seconds | environment()
        write_atomically(REPORT, json.dumps(report, indent=1, sort_keys=True) + "\n")
        write_atomically(REPORT.with_name("table.md"), table(report))
        print(f"{name}: {seconds['processor seconds']} processor seconds", flush=True)


if __name__ == "__main__":
    main()
