"""Run the notebooks whole, and keep what they print and how long they take.

    python -m benchmarks.notebooks
    python -m benchmarks.notebooks 3_search

Each notebook is written anew, with its outputs and without traces of this machine.
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

# The one place that says where the badges lead. Colab opens a notebook of a public
# repository at /github/OWNER/NAME/blob/main/notebooks/...; until there is one, it asks
# for the file.
COLAB = "https://colab.research.google.com/#upload=true"
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    f"({COLAB})"
)


# What the C++ of TensorFlow and XLA writes about the machine. Colab does not show it.
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
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": folder}},
    )
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    client.execute(env=os.environ | {"PATH": path} | variables)


def tidy(book):
    """Put in the badge, and take out what differs from machine to machine."""
    first = book.cells[0]
    first.source = re.sub(r"^\[!\[Open in Colab\].*$", BADGE, first.source, flags=re.M)
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
    """Run a notebook in a folder of its own, and say how long it took.

    The time that all cores spent on it says more than the clock where other programs
    run beside it; the load is how many did, on average, in the last minute.
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


def main():
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.notebooks", description=__doc__.splitlines()[0]
    )
    known = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(known)}")
    names = parser.parse_args().names or known
    if set(names) - set(known):
        parser.error(f"the notebooks are {', '.join(known)}")
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {}
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        book = read(path)
        seconds = run(book)
        tidy(book)
        write_atomically(path, nbformat.writes(book) + "\n")
        report[name] = seconds | environment()
        write_atomically(REPORT, json.dumps(report, indent=1, sort_keys=True) + "\n")
        write_atomically(REPORT.with_name("table.md"), table(report))
        print(f"{name}: {seconds['processor seconds']} processor seconds", flush=True)


if __name__ == "__main__":
    main()
