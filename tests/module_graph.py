"""The graph of imports: which module of the project imports which.

Imports inside functions count, and so do those of type checking. The architecture test
holds this graph to its rules.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

Graph = dict[str, set[str]]


def source_files(root: Path = ROOT) -> dict[str, Path]:
    """Return the files of the top-level packages `keras_vaf*`, by module name."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in sorted(root.glob("keras_vaf*/**/*.py"))
    }


def module_graph(root: Path = ROOT) -> Graph:
    """Return the modules that each module imports, those from outside left out."""
    files = source_files(root)
    return {
        name: {
            module
            for imported in imported_names(path.read_text(encoding="utf-8"))
            for module in _modules_of(imported, files)
        }
        - {name}
        for name, path in files.items()
    }


def imported_names(source: str) -> set[str]:
    """Return the dotted names that a file imports: `a.b.c` for `from a.b import c`.

    In the argument of `import_module`, `*` stands for a part that is not a constant.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "import_module"
        ):
            names |= {re.sub(r"\{.*?\}", "*", text) for text in _texts(node.args[0])}
    return names


def _texts(argument: ast.expr) -> Iterator[str]:
    """Yield the text of a constant, or of an f-string with its fields in braces."""
    if isinstance(argument, ast.Constant):
        yield str(argument.value)
    elif isinstance(argument, ast.JoinedStr):
        yield ast.unparse(argument)[2:-1]


def _modules_of(imported: str, files: dict[str, Path]) -> set[str]:
    """Return the modules that an imported name stands for, none if it is foreign."""
    if "*" in imported:
        pattern = re.compile(re.escape(imported).replace(r"\*", r"\w+"))
        return {name for name in files if pattern.fullmatch(name)}
    parent = imported.rpartition(".")[0]
    return {next((name for name in (imported, parent) if name in files), "")} - {""}


def part_of(module: str) -> str:
    """Return the package of a module: `layers` for `keras_vaf.layers.sharing`.

    `keras_vaf` is the file `keras_vaf/__init__.py`, and another top-level package is
    one part.
    """
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "keras_vaf" and rest else top


def package_graph(modules: Graph) -> Graph:
    """Return the packages that each package imports."""
    packages: Graph = {part_of(name): set() for name in modules}
    for name, imported in modules.items():
        packages[part_of(name)] |= {part_of(other) for other in imported}
    return {name: others - {name} for name, others in packages.items()}


def circles(graph: Graph) -> list[set[str]]:
    """Return the groups of modules that import each other, directly or not."""
    reached = {name: _reach(name, graph) for name in graph}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(map(set, groups), key=sorted)


def _reach(start: str, graph: Graph) -> set[str]:
    """Return what an import of a module can lead to."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached
