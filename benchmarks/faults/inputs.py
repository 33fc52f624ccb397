"""Wrong input of every command: damaged files that it reads, and mutated JSON files."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.commands import COMMANDS, READ, copy_for
from benchmarks.faults.counts import COUNTS, counted, whole_files
from benchmarks.faults.injection import attempt
from benchmarks.faults.mutations import mutations
from keras_vaf.experiments import Report
from keras_vaf.utils import parse_json


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
        total.update(counted(code, len(lost), 0, text, left))
    return dict(total)


def attack_reports(scratch: Path) -> dict[str, int]:
    """Read every wrong variant of a report; another error is a traceback."""
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    path = next((scratch / "prepared").rglob("seed-*.json"))
    document: Any = parse_json(path.read_bytes())
    for _, text in mutations(document, most=1):
        counts["tried"] += 1
        try:
            Report.from_dict(parse_json(text))
        except ValueError:
            counts["stopped"] += 1
        except Exception:
            counts["tracebacks"] += 1
    return dict(counts)
