"""Wrong input of every command: damaged files that it reads, and mutated JSON files."""

import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from keras_vaf.experiments import Report
from keras_vaf.utils import parse_json
from tests.faults.commands import COMMANDS, READ, copy_for
from tests.faults.counts import COUNTS, counted, whole_files
from tests.faults.injection import attempt
from tests.faults.mutations import mutations


def damaged(content: bytes, number: int) -> Iterator[bytes]:
    """Yield damaged variants of a file: none of it, parts of it, and changed bytes."""
    yield from (b"", b"text", content[: len(content) // 2], content[:-1])
    chance = random.Random(0)
    for _ in range(number):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        yield bytes(changed)


def attack_input(scratch: Path, name: str, number: int) -> dict[str, int]:
    """Run a command on damaged variants of its input, and count."""
    total: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    folder = scratch / "try"
    copy_for(name, scratch / "prepared", folder)
    path = folder / READ[name]
    before = whole_files(folder)
    for content in damaged(path.read_bytes(), number):
        path.write_bytes(content)
        code, text = attempt(folder, COMMANDS[name], lambda: None)
        lost = before - whole_files(folder) - {READ[name]}
        left = len(list(folder.rglob(".tmp-*")))
        total.update(counted(code, text, lost=len(lost), left=left))
    return dict(total)


JSON_FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "reports": (
        "seed-*-fold-*.json",
        lambda path: Report.from_dict(parse_json(path.read_bytes())),
    ),
}
"""JSON files that are edited, and the functions that read them, by name."""


def attack_json(scratch: Path, name: str) -> dict[str, int]:
    """Read every wrong variant of a JSON file.

    It is used, refused with a `ValueError`, or left out with a warning.
    """
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    pattern, read = JSON_FILES[name]
    folder = scratch / "json"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scratch / "prepared", folder)
    path = min(folder.rglob(pattern))
    for _, text in mutations(parse_json(path.read_bytes()), most=1):
        path.write_text(text, encoding="utf-8")
        counts["tried"] += 1
        try:
            with warnings.catch_warnings(record=True) as named:
                warnings.simplefilter("always")
                read(path)
            counts["stopped"] += bool(named)
        except ValueError:
            counts["stopped"] += 1
        except Exception:
            counts["tracebacks"] += 1
    return dict(counts)
