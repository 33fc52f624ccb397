"""`trial_table`, which lists the best trials of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras_vaf.experiments.results.comparison_table import number_of
from keras_vaf.experiments.results.differences import metric_word
from keras_vaf.experiments.results.table import Table, written
from keras_vaf.tuners.results import names_of, ranked

if TYPE_CHECKING:
    from keras_vaf.tuners.study import Search

_MOST = 10


def trial_table(found: Search) -> Table:
    """Return a table of the best trials of the VAF, best first.

    Args:
        found: The search.
    """
    number, score = number_of(found.metric), metric_word(found.metric)
    names = names_of(found.trials)
    rows = []
    for result in ranked(found.trials, found.direction)[:_MOST]:
        cells = {name: str(value) for name, value in result.values.items()}
        cells |= {"trial": result.trial, score: result.status.lower()}
        if result.score is not None:
            cells[score] = written(result.score, number)
            cells["deviation"] = written(result.deviation or 0.0, number)
        rows.append(cells)
    failed = sum(result.status == "FAILED" for result in found.trials)
    return Table.of(
        f"Trials of the VAF: the best {len(rows)} of {len(found.trials)}",
        ("trial", score, "deviation", *names),
        rows,
        (
            f"{score[0].upper()}{score[1:]}: mean on the validation rows of the folds, "
            "with its deviation.",
            *([f"{failed} trials failed."] if failed else []),
        ),
    )
