"""Who may import whom, what may be imported at once, and how large files may be."""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.module_graph import (
    ROOT,
    circles,
    imported_names,
    module_graph,
    package_graph,
    source_files,
)

pytestmark = pytest.mark.backend("tensorflow")

# The packages that each package imports: the arrows in use, and no others.
# "keras_vaf" is the file keras_vaf/__init__.py. Every package may import the leaves.
LEAVES = {"types", "utils"}
ARROWS = {
    "ops": set(),
    "datasets": set(),
    "training": set(),
    "initializers": {"ops"},
    "regularizers": set(),
    "constraints": set(),
    "layers": {"constraints", "initializers", "ops", "regularizers", "removed"},
    "optimizers": {"layers"},
    "torch": {"initializers", "ops"},
    "models": {"initializers", "layers", "ops", "torch"},
    "visualization": {"initializers", "layers", "models", "ops"},
    "callbacks": {"layers", "ops", "visualization"},
    "experiments": {
        *("datasets", "initializers", "layers", "models", "optimizers"),
        *("training", "visualization"),
    },
    "tuners": {
        *("datasets", "experiments", "initializers", "layers", "ops", "training"),
        "visualization",
    },
    "sklearn": {"initializers", "layers", "models", "ops", "training"},
    "paper": {"datasets", "experiments", "initializers", "layers", "visualization"},
    # Each package is an attribute of keras_vaf, which type checkers see as an import.
    "keras_vaf": {
        *("callbacks", "constraints", "datasets", "experiments", "initializers"),
        *("layers", "models", "ops", "optimizers", "paper", "regularizers"),
        *("removed", "sklearn", "torch", "training", "tuners", "visualization"),
    },
    "removed": set(),
    "__main__": set(),
    "keras_vaf_cli": {
        *("datasets", "experiments", "keras_vaf", "layers", "models", "ops"),
        *("experiments", "paper", "training", "tuners", "visualization"),
    },
}

# Only the command line may import the paper's experiments, an attribute of keras_vaf.
USERS_OF_THE_PAPER = {"keras_vaf", "keras_vaf_cli"}

# Packages that a module may import at once. Functions import others when they run.
ALWAYS_THERE = sys.stdlib_module_names | {"keras", "keras_vaf", "numpy"}

# A module that is imported under one backend only has that backend in its name, or in
# that of its package.
BACKENDS = {"jax", "tensorflow", "torch"}

# The most files in a folder, `__init__.py` not counted, and the most lines in a file.
MOST_FILES = 13
# Each compared activation is one file, and each command: these folders may grow.
GROWING = {"keras_vaf/layers/family", "keras_vaf_cli"}
MORE_FILES = {"keras_vaf/models": 14}
MOST_LINES = 300
# The recomputation of all answers and tables is one file, read from top to bottom.
MORE_LINES = {"benchmarks/recompute.py": 400}


HEART = {
    *("callbacks", "constraints", "initializers", "layers", "models", "ops"),
    *("optimizers", "regularizers", "torch", "visualization"),
}
# The files that use private members of Keras, TensorFlow, PyTorch or Python. Each says
# why it has to.
PRIVATE_MEMBERS: dict[str, set[str]] = {
    "keras_vaf.layers.keras_internals": {
        "_flatten_layers",
        "_get_call_context",
        "_inbound_nodes",
        "_layers",
        "_maybe_reset_call_context",
        "_non_trainable_variables",
        "_path",
        "_track_variables",
        "_tracker",
        "_trainable_variables",
    },
    "keras_vaf.layers.trainable_activation": {"_apply"},
    "keras_vaf.ops.on_tensorflow": {"_get_control_flow_context"},
    "keras_vaf.ops.modes_on_torch": {
        "_C",
        "_current_level",
        "_functorch",
        "_len_torch_dispatch_stack",
    },
    "keras_vaf.ops.on_torch": {"_C"},
    # Nothing public tells whether a module has hooks.
    "keras_vaf.torch.conversion": {
        "_backward_hooks",
        "_backward_pre_hooks",
        "_forward_hooks",
        "_forward_pre_hooks",
    },
}
# The files that replace a member of a class of Keras, or the class of an object.
PATCHES: dict[str, set[str]] = {}


def heart_of(module: str) -> bool:
    """Tell whether a module belongs to the part that an activation needs."""
    return module.split(".")[1:2] != [] and module.split(".")[1] in HEART


def loaded_at_once(tree: ast.Module) -> set[str]:
    """Return the dotted names that importing a file loads."""
    waiting, names = list(tree.body), set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= imported_names(ast.unparse(node))
        waiting.extend(ast.iter_child_nodes(node))
    return names


def early_imports(module: str, source: str) -> set[str]:
    """Return the top-level packages that a module imports too early."""
    named = {*BACKENDS, "triton"} & set(module.replace(".", "_").split("_"))
    allowed = ALWAYS_THERE | named | {module.split(".")[0]}
    loaded = loaded_at_once(ast.parse(source))
    return {name.split(".")[0] for name in loaded} - allowed


def private_keras(source: str) -> bool:
    """Tell whether a file uses `keras.src`."""
    attributes = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
    }
    used = imported_names(source) | attributes
    return any(f"{name}.".startswith("keras.src.") for name in used)


def private_members(source: str, own: set[str]) -> set[str]:
    """Return the private members of other packages that a file uses.

    Args:
        source: The file.
        own: Private names that this package defines.
    """
    found = {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value) not in ("self", "cls", "ctx")
    }
    return found - own - {"_replace", "_asdict", "_fields"}


def private_definitions(source: str) -> set[str]:
    """Return the private names that a file defines."""
    return set(
        re.findall(
            r"(?:def |class |self\.|cls\.|^ {0,4})(_[a-z]\w*)(?=[(: ]| =)",
            source,
            re.MULTILINE,
        )
    )


def patches(source: str) -> set[str]:
    """Return the members of Keras, and the classes of objects, that a file replaces."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        targets = node.targets if isinstance(node, ast.Assign) else []
        names = {ast.unparse(target) for target in targets}
        found |= {name for name in names if re.match(r"(keras|tf|torch|jax)\.", name)}
        if isinstance(node, ast.Call) and "__setattr__" in ast.unparse(node.func):
            names |= {f".{each.value}" for each in node.args[1:2]}
        found |= {"__class__" for name in names if name.endswith(".__class__")}
    return found


def python_files(*patterns: str) -> list[Path]:
    """Return the Python files of folders, relative to the root."""
    folders = (folder for pattern in patterns for folder in ROOT.glob(pattern))
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in files)


@pytest.fixture(scope="module")
def modules():
    """The graph of all modules of the project."""
    return module_graph()


@pytest.fixture(scope="module")
def sources():
    """The text of each module of the project."""
    return {name: path.read_text("utf-8") for name, path in source_files().items()}


def test_no_modules_import_each_other(modules):
    assert circles(modules) == []


def test_packages_import_exactly_what_the_arrows_say(modules):
    packages = package_graph(modules)
    assert not any(packages[leaf] for leaf in LEAVES)
    used = {part: packages[part] - LEAVES for part in packages.keys() - LEAVES}
    assert used == ARROWS


def test_the_arrows_have_no_circle():
    assert circles(ARROWS) == []


def test_the_product_does_without_the_paper():
    users = {part for part, imported in ARROWS.items() if "paper" in imported}
    assert users == USERS_OF_THE_PAPER


def test_imports_are_absolute(sources):
    relative = {
        name: [each for each in imported_names(source) if each.startswith(".")]
        for name, source in sources.items()
    }
    assert {name: each for name, each in relative.items() if each} == {}


def test_nothing_heavy_is_imported_before_it_is_needed(sources):
    early = {name: early_imports(name, source) for name, source in sources.items()}
    assert {name: each for name, each in early.items() if each} == {}


def test_only_the_harness_knows_the_private_part_of_keras():
    users = [
        path.as_posix()
        for path in python_files("keras_vaf*", "tests", "benchmarks", "tools", "docs")
        if private_keras((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert users == ["tests/harness.py", "tests/peers/vaf_activations.py"]


def test_private_members_of_other_packages_stand_in_few_files(sources):
    heart = {name: text for name, text in sources.items() if heart_of(name)}
    own = set().union(*map(private_definitions, heart.values()))
    # Names of Keras that this package also sets or overrides.
    own -= {"_layers", "_tracker", "_apply", "_parent_path", "_path"}
    used = {name: private_members(text, own) for name, text in heart.items()}
    assert {name: each for name, each in used.items() if each} == PRIVATE_MEMBERS


def test_two_files_replace_members_of_keras(sources):
    replaced = {n: patches(text) for n, text in sources.items() if heart_of(n)}
    assert {name: each for name, each in replaced.items() if each} == PATCHES


def test_private_and_replaced_members_are_seen():
    assert private_members(
        "layer._layers, self._own, a._made(), a.__x__", {"_made"}
    ) == {"_layers"}
    assert patches("keras.Layer.__call__ = f") == {"keras.Layer.__call__"}
    assert patches("object.__setattr__(model, '__class__', kind)") == {"__class__"}
    assert patches("layer.__class__ = kind") == {"__class__"}
    assert patches("layer.activation = keras.activations.relu") == set()


def test_no_folder_holds_too_many_files():
    files = python_files("keras_vaf*", "benchmarks", "tools")
    counts = Counter(
        path.parent.as_posix() for path in files if path.name != "__init__.py"
    )
    too_many = {
        folder: count
        for folder, count in counts.items()
        if folder not in GROWING and count > MORE_FILES.get(folder, MOST_FILES)
    }
    assert too_many == {}


def test_no_file_is_too_long():
    lines = {
        path.as_posix(): (ROOT / path).read_text(encoding="utf-8").count("\n")
        for path in python_files("keras_vaf*", "benchmarks", "tools", "docs")
    }
    too_long = {
        path: count
        for path, count in lines.items()
        if count > MORE_LINES.get(path, MOST_LINES)
    }
    assert too_long == {}


def make_project(folder, files):
    """Write the files of a package `keras_vaf` into a folder, and return the folder."""
    for name, text in files.items():
        path = folder / "keras_vaf" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "source",
    [
        "import keras_vaf.low.b",
        "from keras_vaf.low import b",
        "def f():\n    from keras_vaf.low.b import name",
        "import importlib\nimportlib.import_module('keras_vaf.low.b')",
        "from importlib import import_module\nimport_module(f'keras_vaf.low.{x}')",
    ],
)
def test_an_import_is_seen(tmp_path, source):
    graph = module_graph(make_project(tmp_path, {"top/a": source, "low/b": ""}))
    assert graph == {"keras_vaf.top.a": {"keras_vaf.low.b"}, "keras_vaf.low.b": set()}
    assert package_graph(graph) == {"top": {"low"}, "low": set()}


def test_a_circle_is_seen(tmp_path):
    files = {
        "a": "import keras_vaf.b",
        "b": "def f():\n    from keras_vaf import c",
        "c": "from keras_vaf.a import name",
        "d": "import keras_vaf.a",
    }
    graph = module_graph(make_project(tmp_path, files))
    assert circles(graph) == [{"keras_vaf.a", "keras_vaf.b", "keras_vaf.c"}]


def test_early_imports_and_the_private_part_of_keras_are_seen():
    for source in (
        "import torch",
        "try:\n    import torch\nexcept ImportError:\n    pass",
        "class A:\n    from torch.nn import Module",
    ):
        assert early_imports("keras_vaf.on_jax", source) == {"torch"}
        assert early_imports("keras_vaf.on_torch", source) == set()
    late = "def f():\n    import torch\nif TYPE_CHECKING:\n    import torch"
    assert early_imports("keras_vaf.gradient", late) == set()
    for source in (
        "from keras.src.layers import Dense",
        "from keras import src",
        "import keras\nlayer = keras.src.layers.Dense",
    ):
        assert private_keras(source)


def test_contributing_names_every_folder():
    root = Path(__file__).parents[1]
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+)` \|", text, re.M))
    found = (path.parent.name for path in root.glob("keras_vaf/*/__init__.py"))
    packages = {f"keras_vaf/{name}" for name in found}
    folders = {"keras_vaf_cli", "tests", "benchmarks", "tools", "docs", "notebooks"}
    assert named == packages | folders
