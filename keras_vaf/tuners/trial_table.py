"""`trial_table`, which lists the best trials of a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keras_vaf.experiments.results.table import Table
from keras_vaf.tuners.results import TrialResult, names_of, ranked
from keras_vaf.tuners.search_settings import Settings


def trial_table(
    results: Sequence[TrialResult], settings: Settings, most: int = 15
) -> Table:
    """Return a table of the trials of a search on a dataset, best first.

    Args:
        results: The trials.
        settings: The settings of the search.
        most: Largest number of trials in the table.
    """
    names = names_of(results)
    completed = sum(result.status == "COMPLETED" for result in results)
    failed = sum(result.status == "FAILED" for result in results)
    limit = f"; the best {most} are shown" if len(results) > most else ""
    return Table.of(
        f"Search on {Path(settings.dataset).stem}",
        ("trial", "score", "deviation", "epochs", *names),
        [_cells(result) for result in ranked(results, "min")[:most]],
        (
            f"Score: validation loss, mean of {settings.folds} folds; lower is better.",
            f"{completed} of {settings.trials} trials completed, {failed} failed"
            f"{limit}.",
        ),
    )


def _cells(result: TrialResult) -> dict[str, str]:
    cells = {name: str(value) for name, value in result.values.items()}
    cells["trial"] = result.trial
    cells["score"] = result.status.lower()
    if result.score is not None:
        cells["score"] = f"{result.score:.4g}"
    if result.deviation is not None:
        cells["deviation"] = f"{result.deviation:.2g}"
    if result.epochs is not None:
        cells["epochs"] = str(result.epochs)
    return cells
