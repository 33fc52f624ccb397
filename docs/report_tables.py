"""Tables and sentences of the pages, made from the committed reports.

A line `<!-- report: NAME -->` on a page becomes one of them when the pages are built.
The README is read as it is: there the text stands between that line and
`<!-- end of report -->`, and `python docs/report_tables.py` brings it up to date.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import benchmark_tables
import map_tables
import reproduction_tables

README = Path(__file__).parents[1] / "README.md"

_COMMENT = re.compile(r"^<!-- report: (\S+) -->$", re.M)
_COMMITTED = re.compile(
    r"(?<=^<!-- report: )(\S+)( -->\n).*?(?=^<!-- end of report -->$)", re.M | re.S
)


def fill(text: str) -> str:
    """Return a page with its reports in place of the lines that name them."""
    return _COMMENT.sub(lambda found: NAMED[found[1]](), text)


def refresh(text: str) -> str:
    """Return a text whose reports between comments are up to date."""
    return _COMMITTED.sub(
        lambda found: f"{found[1]}{found[2]}\n{NAMED[found[1]]()}\n\n", text
    )


NAMED: dict[str, Callable[[], str]] = {
    function.__name__.replace("_", "-"): function
    for module in (
        benchmark_tables,
        map_tables,
        reproduction_tables,
    )
    for function in module.TABLES
}
NAMED |= {
    f"summary-{manner}": partial(reproduction_tables.summary, manner)
    for manner in ("paper", "ours")
}
NAMED |= {
    f"causes-{task}": partial(reproduction_tables.causes, task)
    for task in ("classification", "regression")
}
NAMED |= {
    f"map-{task}": partial(map_tables.map_verdict, task)
    for task in ("oscillating", "physics", "images", "certified", "fine_tuning")
}


if __name__ == "__main__":
    README.write_text(refresh(README.read_text(encoding="utf-8")), encoding="utf-8")
