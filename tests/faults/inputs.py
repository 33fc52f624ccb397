"""Wrong input of every command: damaged files that it reads."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.faults.commands import COMMANDS, READ, copy_for
from tests.faults.counts import COUNTS, counted, whole_files
from tests.faults.injection import attempt


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
