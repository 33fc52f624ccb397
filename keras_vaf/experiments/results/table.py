"""`Table`, a title, cells and notes as text, and the cells of results."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Published, Result
from keras_vaf.experiments.results.selection import Selected
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.utils import deviation, markdown_table, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BALANCED = "balanced_accuracy"


@dataclass(frozen=True)
class Table:
    """A table as text, with its pictures.

    Attributes:
        title: Heading.
        columns: Titles of the columns. The first column contains text.
        lines: The rows of the table, with one cell per column.
        notes: Sentences that explain the table.
        shown: Titles of the columns that are shown in a terminal.
        figures: Pictures, by a part of their file name.
        shown_notes: Sentences that explain the columns in `shown`.
    """

    title: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    shown: tuple[str, ...]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    shown_notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Mapping[str, str]],
        notes: Sequence[str],
        shown: Sequence[str] = (),
        figures: Mapping[str, Figure] | None = None,
        shown_notes: Sequence[str] = (),
    ) -> Table:
        """Return the table of given rows, without columns whose cells are all empty."""
        filled = tuple(name for name in columns if any(row.get(name) for row in rows))
        return cls(
            title,
            filled,
            tuple(tuple(row.get(name, "") for name in filled) for row in rows),
            tuple(notes),
            tuple(name for name in shown or filled if name in filled),
            figures or {},
            tuple(shown_notes or notes),
        )

    @property
    def shown_lines(self) -> list[list[str]]:
        """The rows of the table, with only the columns in `shown`."""
        places = [self.columns.index(name) for name in self.shown]
        return [[line[place] for place in places] for line in self.lines]

    @property
    def markdown(self) -> str:
        """The table as Markdown, with a heading and a list of notes."""
        notes = "\n".join(f"- {note}" for note in self.notes)
        table = markdown_table(self.columns, self.lines)
        return f"# {self.title}\n\n{table}\n\n{notes}\n"


def result_cells(result: Result, number: str = ".4f") -> dict[str, str]:
    """Return all cells of a result for tables, by column title.

    Args:
        result: The result.
        number: Format specification of scores; "" for `readable`.
    """
    selected, protocol = result.selected, result.protocol
    first, hidden = selected.reports[0], selected.hidden
    parameters = {report.parameters for report in selected.reports}
    return {
        "dataset": protocol.dataset,
        "rows": str(sum(first.rows.values())),
        "activation": _activation(selected),
        "hidden": "-".join(map(str, hidden)) if hidden else "varies",
        **_rate_cells(selected),
        "mean": written(result.mean, number),
        "deviation": written(result.deviation, number),
        "balanced": _balanced([trial.scores for trial in selected.trials]),
        "published": published_cell(result.published),
        **comparison_cells(result, number),
        "optimism": written(result.optimism, number),
        "folds": _folds(selected),
        "epochs": str(protocol.epochs),
        "mean epochs": _mean_epochs(selected),
        "parameters": f"{first.parameters:,}" if len(parameters) == 1 else "varies",
        "FLOPs": f"{first.flops:,}",
        "seconds": f"{math.fsum(report.seconds for report in selected.reports):.1f}",
        "device": first.environment["device"].partition(":")[0],
    }


def written(value: float, number: str, sign: str = "") -> str:
    """Return a score as text.

    Args:
        value: The score.
        number: As in `result_cells`.
        sign: As in `readable`.
    """
    return f"{value:{sign}{number}}" if number else readable(value, sign)


def comparison_cells(result: Result, number: str = ".4f") -> dict[str, str]:
    """Return the cells that compare a result with its reference.

    Args:
        result: The result.
        number: As in `result_cells`.
    """
    signs = [(gain > 0) - (gain < 0) for gain in result.gains]
    counts = "/".join(str(signs.count(sign)) for sign in (1, 0, -1))
    return {
        "against": result.against,
        "wins/ties/losses": counts if signs else "",
        "gain": _gain(result, number),
        "p": p_value(result.p).removeprefix("= "),
    }


def direction_cells(result: Result, corrected: float | None) -> dict[str, str]:
    """Return the cells with the corrected p-value and the direction of a result.

    Args:
        result: The result.
        corrected: p-value of the result, corrected for the number of tests.
    """
    if corrected is None or result.p is None:
        return {}
    word = result.direction
    star = "*" if corrected < LEVEL else ""
    return {
        "p (Holm)": p_value(corrected).removeprefix("= "),
        "direction": f"{word}{star}" if result.p < LEVEL else f"({word})",
    }


def constant_cells(result: Result, number: str = ".4f") -> dict[str, str]:
    """Return the cells of the constant predictor.

    Args:
        result: A result on the same data.
        number: As in `result_cells`.
    """
    reports = result.selected.reports
    return {
        "dataset": result.protocol.dataset,
        "rows": str(sum(reports[0].rows.values())),
        "activation": "constant",
        "mean": written(statistics.fmean(result.baseline), number),
        "deviation": written(deviation(result.baseline), number),
        "balanced": _balanced([report.baseline for report in reports]),
        "folds": _folds(result.selected),
    }


def _activation(selected: Selected) -> str:
    """Return the name and, for a team, the selected activation."""
    name = selected.protocol.variant.name
    return f"{selected.team} ({name})" if selected.team else name


def _rate_cells(selected: Selected) -> dict[str, str]:
    """Return the cells of the median learning rate and the number at an edge."""
    rates = [trial.rate for trial in selected.trials if trial.rate is not None]
    if not rates:
        return {}
    edges = sum(selected.at_edges)
    return {"rate": f"{statistics.median_low(rates):.2g}", "edge": str(edges or "")}


def _mean_epochs(selected: Selected) -> str:
    """Return the mean number of trained epochs, if training may stop early."""
    if selected.protocol.patience is None:
        return ""
    return f"{statistics.fmean(trial.epochs for trial in selected.trials):.0f}"


def _folds(selected: Selected) -> str:
    """Return the number of folds, and the number of seeds if there are several."""
    seeds = len({report.seed for report in selected.reports})
    folds = len(selected.reports) // seeds
    return f"{folds} x {seeds}" if seeds > 1 else str(folds)


def _balanced(scores: Sequence[Mapping[str, float]]) -> str:
    if not all(_BALANCED in each for each in scores):
        return ""
    return f"{statistics.fmean(each[_BALANCED] for each in scores):.4f}"


def published_cell(published: Published | None) -> str:
    """Return a published number with its deviation and architecture."""
    if published is None:
        return ""
    spread = "" if published.deviation is None else f" ± {published.deviation:.4f}"
    hidden = "-".join(map(str, published.hidden))
    return f"{published.mean:.4f}{spread} ({hidden})"


def _gain(result: Result, number: str) -> str:
    if not result.gains:
        return ""
    mean = written(result.gain, number, "+")
    interval = result.interval
    return mean if interval is None else f"{mean} ± {written(interval, number)}"
