"""Counts of datasets on which an activation is better or worse than another one."""

import re
from collections.abc import Callable

from report_files import Row, names_of, render, rows_of, text_of

from keras_vaf.paper.tables.summaries import TITLES

PAIR = re.compile(
    r"^- (\S+) against (\S+) over (\d+) datasets: better on (\d+), worse on (\d+)"
    r"(?:, equal on \d+)?; "
    r"(\S+) times the error; Wilcoxon signed-rank p (?:= )?(< \S+|\S+)",
    re.M,
)
"""A line below a table: activation, reference, counts, ratio of errors and p-value."""

_HEADLINE = (
    ("vaf-relu", "relu"),
    ("vaf-silu", "silu"),
    ("vaf-random", "relu"),
    ("vaf-best", "relu-fair"),
    ("vaf-best", "best-fixed"),
)


def summary(manner: str) -> str:
    """Count the datasets on which each VAF is better or worse, and significantly so.

    Args:
        manner: The protocol, `"paper"` or `"ours"`.
    """
    return render(_counted(manner, lambda arm, against: arm.startswith("vaf")))


def headline() -> str:
    """Count better and worse datasets of the main comparisons, tasks as columns."""
    return _by_task(_counted("ours", lambda *pair: pair in _HEADLINE))


def fixed() -> str:
    """Count the datasets on which each fixed activation is better than ReLU."""

    def is_fixed(arm: str, against: str) -> bool:
        return against == "relu" and not arm.startswith("vaf")

    return _by_task(_counted("ours", is_fixed))


def arm_of(row: Row) -> str:
    """Return the name of an activation, without that of the best of several."""
    return row["activation"].partition(" ")[0]


def _counted(manner: str, is_shown: Callable[[str, str], bool]) -> list[Row]:
    """Return a line for each task and each pair that is shown."""
    lines = []
    for task in ("regression", "classification"):
        for report in names_of(f"reproduction/{task}-{manner}-validation-*.md"):
            text, directions = text_of(report), _directions(report)
            tests = {(found[1], found[2]): found for found in PAIR.finditer(text)}
            lines += [
                {
                    "task": f"{task}, {len(words)} datasets",
                    "activation": TITLES[arm],
                    "compared with": TITLES[against],
                    "better": _count(words, "better"),
                    "worse": _count(words, "worse"),
                    "error ratio": f"{float(tests[arm, against][6]):.2f}",
                    "Wilcoxon p": tests[arm, against][7],
                }
                for (arm, against), words in directions.items()
                if is_shown(arm, against)
            ]
    return lines


def _directions(report: str) -> dict[tuple[str, str], list[str]]:
    """Return the directions of each pair, a word for each dataset."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows_of(report):
        if row["against"]:
            pair = arm_of(row), row["against"]
            found.setdefault(pair, []).append(row["direction"])
    return found


def _count(words: list[str], word: str) -> str:
    """Return how many directions are this word, and how many of them are starred."""
    return f"{sum(word in each for each in words)} ({words.count(f'{word}*')})"


def _by_task(lines: list[Row]) -> str:
    found: dict[tuple[str, str], Row] = {}
    for row in lines:
        pair = row["activation"], row["compared with"]
        line = found.setdefault(pair, {"activation": pair[0], "compared with": pair[1]})
        line[row["task"]] = (
            f"{row['error ratio']}; {row['better'].split()[0]} better, "
            f"{row['worse'].split()[0]} worse, p = {row['Wilcoxon p']}"
        ).replace("= <", "<")
    return render(list(found.values()))


TABLES = (headline, fixed)
