"""Caches do not grow without bound: functions with arguments keep a limited number."""

import ast

import pytest

from tests.module_graph import source_files

pytestmark = pytest.mark.backend("tensorflow")

BOUNDED = "functools.lru_cache(maxsize="

# Containers of modules that grow: with living layers, with a test of the limit, and
# with the kernels for GPUs.
LIMITED = {
    "keras_vaf.layers.keras_internals": ["_LAYERS"],
    "keras_vaf.models.changes": ["_REPORTS"],
    "keras_vaf.ops.gpu.trial": ["_errors"],
}

CONTAINERS = (
    *("dict", "list", "set", "deque", "defaultdict", "OrderedDict", "Counter"),
    *("WeakKeyDictionary", "WeakValueDictionary", "WeakSet"),
)


def unbounded_caches(source: str) -> list[str]:
    """Return the functions with arguments whose cache has no limit."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and ast.unparse(node.args)
        for decorator in map(ast.unparse, node.decorator_list)
        if decorator.rpartition(".")[2].partition("(")[0] in ("cache", "lru_cache")
        if not decorator.startswith(BOUNDED) or decorator == f"{BOUNDED}None)"
    ]


def test_every_cache_is_bounded():
    found = {n: unbounded_caches(p.read_text()) for n, p in source_files().items()}
    assert {name: names for name, names in found.items() if names} == {}


def growing_containers(source: str) -> list[str]:
    """Return the variables of a module that begin as empty containers."""
    return [
        ast.unparse(target)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        if not ast.unparse(node.value).strip("{}[]")
        or ast.unparse(node.value).rpartition(".")[2].partition("(")[0] in CONTAINERS
        for target in getattr(node, "targets", [getattr(node, "target", None)])
    ]


def test_every_container_of_a_module_is_limited():
    found = {n: growing_containers(p.read_text()) for n, p in source_files().items()}
    assert {name: names for name, names in found.items() if names} == LIMITED


def test_growing_containers_and_unbounded_caches_are_seen():
    for value in ("{}", "[]", "defaultdict(list)", "weakref.WeakKeyDictionary()"):
        assert growing_containers(f"_cache: object = {value}") == ["_cache"]
        assert growing_containers(f"_cache = {value}") == ["_cache"]
    for decorator in ("functools.cache", "functools.lru_cache(maxsize=None)"):
        assert unbounded_caches(f"@{decorator}\ndef fit(x): pass") == ["fit"]
    for source in (
        "@functools.cache\ndef load(): pass",
        "@functools.lru_cache(maxsize=8)\ndef fit(x): pass",
    ):
        assert unbounded_caches(source) == []
