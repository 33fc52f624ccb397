"""Who may import whom, how large files and folders may be, what writes, what is kept.

`tests/lines.json` has the budget of each folder in lines, and a tenth more passes. A
number changes when something is decided; a commit that raises one says why.
`pyproject.toml` lists the rules that ruff holds: no private members of other packages,
no relative imports, and packages that are imported only when they are needed.
"""

import ast
import graphlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
# The packages that each package imports: the arrows in use, and no others.
# "keras_vaf" is the file keras_vaf/__init__.py. Every package may import the leaves.
# Only the command line may import the paper's experiments, an attribute of keras_vaf.
LEAVES = {"types", "utils"}
ARROWS = {
    "ops": "",
    "datasets": "",
    "training": "",
    "initializers": "ops",
    "regularizers": "",
    "constraints": "",
    "layers": "constraints initializers ops regularizers removed",
    "optimizers": "layers",
    "torch": "initializers ops",
    "models": "initializers layers ops torch",
    "visualization": "initializers layers models ops",
    "callbacks": "layers ops visualization",
    "experiments": (
        "datasets initializers layers models ops optimizers training visualization"
    ),
    "tuners": "datasets experiments initializers layers ops training",
    "sklearn": "initializers layers models ops training",
    "paper": "datasets experiments initializers layers visualization",
    # Each package is an attribute of keras_vaf, which type checkers see as an import.
    "keras_vaf": (
        "callbacks constraints datasets experiments initializers layers models "
        "ops optimizers paper regularizers removed sklearn torch training "
        "tuners visualization"
    ),
    "removed": "",
    "__main__": "",
    "keras_vaf_cli": (
        "datasets experiments keras_vaf layers models ops paper training tuners "
        "visualization"
    ),
}
ARROWS = {package: {*others.split()} for package, others in ARROWS.items()}

# The most files in a folder, `__init__.py` not counted, and the most lines in a file.
MOST_FILES = 13
# Each compared activation is one file, and each command: these folders may grow.
MORE_FILES = {"keras_vaf/models": 14}
MORE_FILES |= dict.fromkeys(("keras_vaf/layers/family", "keras_vaf_cli"), 99)
MOST_LINES = 300

WRITING = re.compile(
    r"\.(?:dump|save(?:_weights|fig)?|to_(?:csv|excel|parquet)|tofile|write_(?:bytes|text))\("
    r"|\.export\(|open\([^\n]*[\"'][wax]b?\+?[\"']"
)
# Modules that write without `atomic_path` and `write_atomically`, each with its reason.
WRITERS = {
    "keras_vaf.datasets.tables.files",  # its caller passes a temporary path
    "keras_vaf.datasets.tables.reading",  # in its example
    "keras_vaf.utils.text",  # into memory
    "keras_vaf.experiments.store",  # appends a line
}


SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8")
    for path in ROOT.glob("keras_vaf*/**/*.py")
}
SOURCES = {name.removesuffix(".__init__"): text for name, text in SOURCES.items()}


def module_graph():
    """Return the modules that each module imports, also later or for type checking."""
    graph = {}
    for module, text in SOURCES.items():
        found = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    found.add(name if name in SOURCES else node.module)
        graph[module] = found & SOURCES.keys() - {module}
    return graph


def package_of(module):
    """Return `layers` for `keras_vaf.layers.sharing`."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "keras_vaf" and rest else top


def test_no_modules_import_each_other():
    graphlib.TopologicalSorter(module_graph()).prepare()
    graphlib.TopologicalSorter(ARROWS).prepare()


def test_packages_import_exactly_what_the_arrows_say():
    used = {}
    for module, imported in module_graph().items():
        package = package_of(module)
        used.setdefault(package, set()).update(map(package_of, imported))
        used[package].discard(package)
    assert not any(used.pop(leaf) for leaf in LEAVES)
    assert {package: others - LEAVES for package, others in used.items()} == ARROWS


def lines(path):
    return path.read_bytes().count(b"\n")


def test_folders_and_files_are_small():
    folders = ("keras_vaf", "keras_vaf_cli", "benchmarks", "tools", "docs")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in paths if lines(path) > MOST_LINES] == []
    paths = [path.relative_to(ROOT) for path in paths if path.name != "__init__.py"]
    for folder, count in Counter(path.parent.as_posix() for path in paths).items():
        assert count <= MORE_FILES.get(folder, MOST_FILES), folder


def test_each_folder_has_a_limit_of_lines():
    limits = json.loads((ROOT / "tests/lines.json").read_text())
    packages = {path.parent for path in (ROOT / "keras_vaf").glob("*/*.py")}
    others = ("keras_vaf_cli", "tests", "benchmarks", "docs", "tools", "setup.py")
    places = packages.union(ROOT / name for name in others)
    assert limits.keys() == {place.relative_to(ROOT).as_posix() for place in places}
    for place in places:
        files = [place] if place.suffix else place.rglob("*.py")
        name = place.relative_to(ROOT).as_posix()
        assert sum(map(lines, files)) <= 1.1 * limits[name], name


def test_files_are_written_atomically():
    found = {
        name
        for name, text in SOURCES.items()
        if WRITING.search(text)
        and "with atomic_path(" not in text
        and "write_atomically(" not in text
    }
    assert found == WRITERS


def test_caches_of_functions_with_arguments_are_bounded():
    pattern = r"@(?:functools\.)?(?:lru_)?cache(?:\(maxsize=None\))?\n *def \w+\([^)]"
    assert [name for name, text in SOURCES.items() if re.search(pattern, text)] == []
