"""Recompute the registered answers and the tables of the pages from the records.

`python -m benchmarks.recompute` prints them; `--check` compares them with the lines of
each table below a comment `table: NAME` in the README and in `docs`, and exits with 1
if one differs. Each other file here has the tables of one page or a few.
"""

import itertools
import re
import sys
from collections.abc import Iterator

from benchmarks.recompute.evidence import on_help, on_steps, power, registered
from benchmarks.recompute.records import ROOT, Lines
from benchmarks.recompute.relu import on_cost, on_relu
from benchmarks.recompute.reproduction import on_choices, on_paper
from benchmarks.recompute.rule import on_rule
from benchmarks.recompute.small import on_fine_tuning, on_small

TABLE = re.compile(r"^ *<!-- table: (\S+) -->\n\n((?: *\|.*\n)+)", re.M)


def tables() -> dict[str, Lines]:
    every, relu = registered(), on_relu()
    later = [row for row in every if row[0][0] in "UF"]
    found = {"registered": [row for row in every if row not in later]}
    found |= {"registered-0-4": later, "power": power(), "relu-cost": on_cost(), **relu}
    found["help"] = on_help(every + relu["registered-relu"])
    found |= {"steps": on_steps(), "choices": on_choices(), "rule": on_rule()}
    return found | {"fine-tuning": on_fine_tuning()} | on_small() | on_paper()


def differences(found: dict[str, Lines]) -> Iterator[str]:
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))):
        for name, text in TABLE.findall(page.read_text("utf-8")):
            rows = text.splitlines()[2:]
            shown = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
            for row, own in itertools.zip_longest(shown, found.get(name, shown)):
                if row != own:
                    yield f"{page.name}, {name}: {row} is {own}"


def main() -> int:
    if unknown := {*sys.argv[1:]} - {"--check"}:
        raise ValueError(f"The argument is `--check`. Received: {unknown}")
    found = tables()
    if "--check" in sys.argv:
        different = list(differences(found))
        print(*different, f"{len(different)} rows differ", sep="\n")
        return int(bool(different))
    for name, rows in found.items():
        print(f"\n{name}\n", *(" | ".join(row) for row in rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
