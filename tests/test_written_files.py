"""Files are written by `atomic_path` and `write_atomically` alone."""

import ast

import pytest

from tests.module_graph import source_files

pytestmark = pytest.mark.backend("tensorflow")

WRITERS = (
    *("dump", "export", "save", "save_weights", "savefig", "savez", "savez_compressed"),
    *("to_csv", "to_excel", "to_json", "to_parquet", "tofile", "write_bytes"),
    *("write_text", "writestr"),
)

# Calls outside of `with atomic_path(...)`, each with its reason.
OTHERS = {
    "keras_vaf.datasets.tables.networks": [
        "to_excel",
        "to_parquet",
        "to_csv",
    ],  # memory
    "keras_vaf.utils.files": ["open"],  # flushes a temporary file
    "keras_vaf.utils.text": ["savefig"],  # into memory
    "keras_vaf.experiments.store": ["open"],  # appends a line
    "keras_vaf.tuners.table_search": ["to_csv"],  # returns text
    "keras_vaf_cli.process": ["open"],  # a stream without a file
}


def writes(node: ast.AST) -> list[str]:
    """Return the names of the calls that write a file outside of `atomic_path`."""
    if isinstance(node, ast.With) and "atomic_path(" in ast.unparse(node.items[0]):
        return []
    found = [each for child in ast.iter_child_nodes(node) for each in writes(child)]
    if not isinstance(node, ast.Call):
        return found
    name = ast.unparse(node.func).rpartition(".")[2]
    modes = (*node.args, *(keyword.value for keyword in node.keywords))
    writing = any(
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and len(mode.value) <= 3
        and set(mode.value) & set("wax+")
        for mode in modes
    )
    if name in WRITERS or (name in ("open", "fdopen", "ZipFile", "File") and writing):
        found.append(name)
    return found


def test_every_file_is_written_atomically():
    found = {n: writes(ast.parse(p.read_text())) for n, p in source_files().items()}
    assert {name: names for name, names in found.items() if names} == OTHERS


def test_a_write_is_seen_unless_it_goes_to_a_temporary_path():
    for source in (
        "model.save(path)",
        "with open(path, 'w') as file: file.write('a')",
        "stream = path.open(mode='ab')",
    ):
        assert writes(ast.parse(source))
    source = "with atomic_path(path) as temporary: model.save(temporary)"
    assert writes(ast.parse(source)) == []
