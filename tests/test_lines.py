"""Each folder has at most the lines that `tests/lines.json` allows it.

The numbers are budgets with a few per cent of room. They change when a feature is
decided, and not in every commit; a commit that raises one says why.
"""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
LIMITS = json.loads((ROOT / "tests/lines.json").read_text())


def lines(folder):
    """Count the lines of all Python files below a folder, as `wc -l` does."""
    files = folder.rglob("*.py") if folder.is_dir() else [folder]
    return sum(file.read_bytes().count(b"\n") for file in files)


def test_every_folder_with_python_code_has_a_limit():
    packages = {
        f"keras_vaf/{file.relative_to(ROOT / 'keras_vaf').parts[0]}"
        for file in (ROOT / "keras_vaf").rglob("*/*.py")
    }
    others = {"keras_vaf_cli", "tests", "benchmarks", "docs", "tools", "setup.py"}
    assert set(LIMITS) == {name for name in packages | others if (ROOT / name).exists()}


@pytest.mark.parametrize("name", LIMITS)
def test_folder_is_within_its_limit(name):
    assert lines(ROOT / name) <= LIMITS[name]
