"""Attack every command that writes files: `python -m tests.faults`.

Each try is a separate process in a folder with complete files. It is killed before or
after one of its writes, gets SIGTERM or Ctrl-C there, meets a full disk or a read-only
folder, runs at the same time as a second process, or reads a damaged file. The report
counts commands that the fault stopped, older files that were lost, trainings that were
repeated, second runs that failed, wrong exit codes, processes that did not end, and
tracebacks. An attack that is in the report already is not repeated.
"""

import json
import random
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from benchmarks.environment import environment
from keras_vaf.utils import markdown_table, write_atomically
from keras_vaf_cli import process
from tests.faults import attempts
from tests.faults.attempts import COUNTS, attempt, counted, finished, whole_files
from tests.faults.commands import COMMANDS, READ, copy_for, prepare

CHANGED = 3  # damaged variants of a file with changed bytes


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
    counts = {"lost": len(lost), "repeated": repeated, "again": again}
    return counted(code, text + second, expected, **counts)


def attack_with_faults(scratch, name):
    """Try every fault on a command, and two processes at once."""
    found = [*attempts.faults(copy_for(name, scratch), COMMANDS[name])]
    for expected, fault in found:
        yield attack(scratch, name, expected, fault)
    yield attack(scratch, name, number=2)


def damaged(content):
    """Yield damaged variants of a file: none of it, parts of it, and changed bytes."""
    yield from (b"", b"text", content[: len(content) // 2], content[:-1])
    chance = random.Random(0)
    for _ in range(CHANGED):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
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
        left = len([*folder.rglob(".tmp-*")])
        yield counted(code, text, lost=len(lost), left=left)


def attacks(scratch):
    """Yield every attack with its name."""
    for name in COMMANDS:
        yield f"{name}: faults", partial(attack_with_faults, scratch, name)
    for name, patterns in READ.items():
        for each in patterns:
            yield f"{name}: damaged {each}", partial(attack_file, scratch, name, each)


def main():
    """Run the attacks that the report lacks; the exit code is 1 if one succeeds."""
    process._load()  # without TensorFlow, whose import takes seconds in each try
    here = Path().absolute()
    scratch, path = here / "runs/faults", here / "docs/reports/faults"
    if not (scratch / "prepared").is_dir():
        child = attempts.FORK.Process(target=prepare, args=(scratch / "try",))
        child.start()
        child.join()
        if child.exitcode:
            return 1
        (scratch / "try").rename(scratch / "prepared")
    command = ["git", "log", "-1", "--format=%h"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    old = path / "faults.json"
    results = json.loads(old.read_bytes())["results"] if old.is_file() else {}
    document = {"environment": environment() | {"commit": commit.strip()}}
    document["results"] = results
    for name, tries in attacks(scratch):
        if name in results:
            continue
        results[name] = Counter()
        for counts in tries():
            results[name].update(counts)
        write_atomically(old, json.dumps(document, indent=1) + "\n")
        rows = [[n, *(str(each[c]) for c in COUNTS)] for n, each in results.items()]
        table = markdown_table(["attack", *COUNTS], rows)
        write_atomically(path / "faults.md", table + "\n")
        print(name, dict(results[name]), flush=True)
    return int(any(each[c] for each in results.values() for c in COUNTS[2:]))


if __name__ == "__main__":
    sys.exit(main())
