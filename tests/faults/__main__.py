"""Attack every command that writes files: `python -m tests.faults`.

Each try is a separate process in a folder with complete files. It is killed before or
after one of its writes, gets SIGTERM or Ctrl-C there, meets a full disk or a read-only
folder, runs at the same time as a second process, or reads a damaged file. `COUNTS`
names what the report counts.
"""

import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from keras_vaf.utils import markdown_table, write_atomically
from keras_vaf_cli import process
from tests.faults import attempts
from tests.faults.attempts import COUNTS, attempt, counted, finished, whole_files
from tests.faults.commands import COMMANDS, READ, copy_for, prepare


def attack(scratch, name, expected=None, fault=lambda: None, number=1):
    """Try one fault on a copy of the prepared folder, run again, and count."""
    folder = copy_for(name, scratch)
    before = whole_files(folder)
    code, text = attempt(folder, COMMANDS[name], fault, number)
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        path.chmod(0o755)
    lost, rows = before - whole_files(folder), finished(folder)
    again, second = attempt(folder, COMMANDS[name])
    now = finished(folder)
    repeated = sum(now[key] != number for key, number in rows.items())
    return counted(code, text + second, expected, len(lost), repeated, again)


def attack_with_faults(scratch, name):
    """Try every fault on a command, and two processes at once."""
    for found in [*attempts.faults(copy_for(name, scratch), COMMANDS[name])]:
        yield attack(scratch, name, *found)
    yield attack(scratch, name, number=2)


def damaged(content):
    """Yield damaged variants of a file."""
    yield from (b"", b"text", content[: len(content) // 2], content[:-1])
    for seed in range(3):
        changed = bytearray(content)
        for place in random.Random(seed).choices(range(len(content)), k=5 * seed + 1):
            changed[place] ^= 255
        yield bytes(changed)


def attack_file(scratch, name, pattern):
    """Run a command on damaged variants of a file that it reads."""
    original = next((scratch / "prepared").glob(pattern))
    file = original.relative_to(scratch / "prepared")
    for content in damaged(original.read_bytes()):
        folder = copy_for("", scratch)
        before = whole_files(folder)
        (folder / file).write_bytes(content)
        code, text = attempt(folder, COMMANDS[name])
        lost = before - whole_files(folder) - {str(file)}
        yield counted(code, text, None, len(lost), left=len([*folder.rglob(".tmp-*")]))


def main():
    """Run all attacks and write the report; the exit code is 1 if one succeeds."""
    process._load()  # without TensorFlow, whose import takes seconds in each try
    here = Path().absolute()
    scratch, rows, failed = here / "runs/faults", [], False
    shutil.rmtree(scratch, ignore_errors=True)
    child = attempts.start(prepare, scratch / "try")
    child.join()
    if child.exitcode:
        return 1
    (scratch / "try").rename(scratch / "prepared")
    command = ["git", "log", "-1", "--format=Commit %h of %cs."]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    attacks = {f"{n}: faults": attack_with_faults(scratch, n) for n in COMMANDS} | {
        f"{name}: damaged {each}": attack_file(scratch, name, each)
        for name, patterns in READ.items()
        for each in patterns
    }
    for name, tries in attacks.items():
        found = Counter()
        for counts in tries:
            found.update(counts)
        failed |= any(found[count] for count in COUNTS[2:])
        rows.append([name, *(str(found[count]) for count in COUNTS)])
        print(*rows[-1], flush=True)
    report = f"{markdown_table(['attack', *COUNTS], rows)}\n\n{commit}"
    write_atomically(here / "docs/reports/faults/faults.md", report)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
