"""Imports point one way: the arrows of the package, held as data."""

import ast
import graphlib
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "keras_vaf"

# Who imports whom; what an imported package imports may be imported too.
# "keras_vaf" is the top-level module; everyone may import the leaves.
LEAVES = {"types", "utils"}
ARROWS = {
    "types": set(),
    "utils": set(),
    "ops": set(),
    "initializers": {"ops"},
    "regularizers": {"ops"},
    "constraints": {"ops"},
    "datasets": set(),
    "layers": {"initializers", "regularizers", "constraints", "ops"},
    "models": {"layers"},
    "optimizers": {"layers"},
    "training": {"layers"},
    "visualization": {"layers"},
    "callbacks": {"layers", "visualization"},
    "tuners": {"experiments"},
    "paper": {"experiments"},
    "experiments": {
        "keras_vaf",
        "datasets",
        "models",
        "training",
        "visualization",
    },
    "keras_vaf": {"layers", "models", "optimizers", "callbacks", "training"},
    "cli": {"paper", "tuners", "keras_vaf"},
}

# Imported when a module is imported. Anything else waits until it is needed.
ALWAYS_THERE = sys.stdlib_module_names | {"keras", "keras_vaf", "numpy"}

# A module that is imported only under one backend has that backend in its name.
BACKENDS = {"jax", "tensorflow", "torch"}


def package_of(path: Path) -> str:
    """Return the part of keras_vaf that a file belongs to."""
    part = path.relative_to(PACKAGE).parts[0]
    return "keras_vaf" if part == "__init__.py" else part.removesuffix(".py")


def imported_modules(tree: ast.AST) -> set[str]:
    """Return the dotted names that any import statement of a file may load."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def imported_parts(tree: ast.AST) -> set[str]:
    """Return the parts of keras_vaf that a file imports."""
    parts = set()
    for name in imported_modules(tree):
        if name == "keras_vaf":
            parts.add("keras_vaf")
        elif name.startswith("keras_vaf."):
            part = name.split(".")[1]
            parts.add(part if part in ARROWS else "keras_vaf")
    return parts


def loaded_at_once(tree: ast.Module) -> set[str]:
    """Return the top-level packages that importing a file loads."""
    waiting, names = list(tree.body), set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {name.split(".")[0] for name in imported_modules(node)}
        waiting.extend(ast.iter_child_nodes(node))
    return names


def reach(part: str) -> set[str]:
    """Return every part that the arrows lead to, and the part itself."""
    reached = {part, *LEAVES}
    for target in ARROWS[part]:
        reached |= reach(target)
    return reached


def wrong_arrows(part: str, source: str) -> set[str]:
    """Return the parts of keras_vaf that a file of `part` must not import."""
    return imported_parts(ast.parse(source)) - reach(part)


def early_imports(module: str, source: str) -> set[str]:
    """Return the packages that a module imports too early."""
    allowed = ALWAYS_THERE | (BACKENDS & set(module.split("_")))
    return loaded_at_once(ast.parse(source)) - allowed


def private_keras(source: str) -> bool:
    """Tell whether a file uses `keras.src`."""
    tree = ast.parse(source)
    used = imported_modules(tree) | {
        ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }
    return any(f"{name}.".startswith("keras.src.") for name in used)


def python_files(*folders: str) -> list[Path]:
    return sorted(path for name in folders for path in (ROOT / name).rglob("*.py"))


@pytest.mark.parametrize(
    "path", python_files("keras_vaf"), ids=lambda path: str(path.relative_to(PACKAGE))
)
class TestFile:
    """What holds for every file of the package."""

    def test_imports_follow_the_arrows(self, path):
        assert wrong_arrows(package_of(path), path.read_text()) == set()

    def test_imports_are_absolute(self, path):
        names = imported_modules(ast.parse(path.read_text()))
        assert [name for name in names if name.startswith(".")] == []

    def test_nothing_heavy_is_imported_before_it_is_needed(self, path):
        assert early_imports(path.stem, path.read_text()) == set()


def test_the_arrows_have_no_cycle():
    graphlib.TopologicalSorter(ARROWS).prepare()


def test_every_part_of_the_package_has_its_arrows():
    assert {package_of(path) for path in python_files("keras_vaf")} <= ARROWS.keys()


def test_only_the_harness_knows_the_private_part_of_keras():
    users = [
        path.relative_to(ROOT).as_posix()
        for path in python_files("keras_vaf", "tests", "benchmarks", "docs")
        if private_keras(path.read_text())
    ]
    assert users == ["tests/harness.py"]


@pytest.mark.parametrize(
    ("part", "source", "wrong"),
    [
        ("layers", "from keras_vaf.training import train", "training"),
        ("ops", "import keras_vaf.layers", "layers"),
        ("datasets", "def f():\n    from keras_vaf import models", "models"),
        ("callbacks", "from keras_vaf.experiments.report import Report", "experiments"),
        ("models", "import keras_vaf", "keras_vaf"),
        ("layers", "from keras_vaf import __version__", "keras_vaf"),
    ],
)
def test_a_wrong_arrow_is_seen(part, source, wrong):
    assert wrong_arrows(part, source) == {wrong}


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "try:\n    import torch\nexcept ImportError:\n    pass",
        "class A:\n    from torch.nn import Module",
        "if True:\n    import torch.nn as nn",
    ],
)
def test_an_early_import_is_seen(source):
    assert early_imports("on_jax", source) == {"torch"}


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import torch",
        "class A:\n    def f(self):\n        import torch",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
    ],
)
def test_a_late_import_is_allowed(source):
    assert early_imports("gradient", source) == set()


def test_a_backend_may_be_imported_by_its_own_module():
    assert early_imports("on_torch", "import torch") == set()


@pytest.mark.parametrize(
    "source",
    [
        "import keras.src",
        "from keras.src.layers import Dense",
        "from keras import src",
        "import keras\nlayer = keras.src.layers.Dense",
    ],
)
def test_the_private_part_of_keras_is_seen(source):
    assert private_keras(source)
