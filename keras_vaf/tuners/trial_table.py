"""`trial_table`, which lists the best trials of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras_vaf.experiments.results.comparison_table import number_of
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
    number = number_of(found.metric)
    names = names_of(found.trials)
    rows = []
    for result in ranked(found.trials, found.direction)[:_MOST]:
        cells = {name: str(value) for name, value in result.values.items()}
        cells |= {"trial": result.trial, found.metric: result.status.lower()}
        if result.score is not None:
            cells[found.metric] = written(result.score, number)
            cells["deviation"] = written(result.deviation or 0.0, number)
        rows.append(cells)
    failed = sum(result.status == "FAILED" for result in found.trials)
    return Table.of(
        f"Trials of the VAF: the best {len(rows)} of {len(found.trials)}",
        ("trial", found.metric, "deviation", *names),
        rows,
        (
            f"The {found.metric} is that of the validation rows, with the deviation of "
            "the folds.",
            *([f"{failed} trials failed."] if failed else []),
        ),
    )
