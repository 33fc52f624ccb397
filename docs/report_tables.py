"""Tables and sentences of the pages, made from the committed reports.

They stand on each page between the lines `<!-- report: NAME -->` and
`<!-- end of report -->`, so that the files can be read as they are.
`python docs/report_tables.py` brings all pages up to date.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import benchmark_tables
import map_tables
import reproduction_tables

from keras_vaf.utils import write_atomically

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))

_REPORT = re.compile(
    r"(?<=^<!-- report: )(\S+)( -->\n).*?(?=^<!-- end of report -->$)", re.M | re.S
)
_COMMENT = re.compile(r"^<!-- (?:report: \S+|end of report) -->\n", re.M)


def refresh(text: str) -> str:
    """Return a page whose reports are up to date."""
    return _REPORT.sub(
        lambda found: f"{found[1]}{found[2]}\n{NAMED[found[1]]()}\n\n", text
    )


def without_comments(text: str) -> str:
    """Return a page without the lines that name reports."""
    return _COMMENT.sub("", text)


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
NAMED |= {
    name: (ROOT / f"docs/reports/evidence/{file}.md").read_text(encoding="utf-8").strip
    for name, file in (
        ("registered", "answers"),
        ("new-tables", "new_tables"),
        ("new-pairs", "pairs"),
        ("catalogue-pairs", "catalogue_pairs"),
        ("without-diamonds", "without_diamonds"),
        ("bends", "bends"),
        ("map-times", "map_times"),
        ("map-ratios", "map_ratios"),
        ("map-ratios-steps", "map_ratios_steps"),
        ("functions", "functions"),
        ("sensor-80", "sensor_80"),
        ("sensor-20", "sensor_20"),
        ("sensor-controls", "sensor_controls"),
        ("language", "language"),
        ("images", "images"),
        ("images-fashion", "images_fashion_mnist"),
        ("images-all", "images_all"),
        ("images-cnet-a", "images_cnet_a"),
        ("images-learned", "images_learned"),
    )
}


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (new := refresh(text)) != text:
            write_atomically(page, new)
