"""`published_table`: the numbers of an experiment beside the published ones."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from keras_vaf.experiments.results.notes import (
    gain_note,
    protocol_notes,
    trainings_note,
)
from keras_vaf.experiments.results.result import Result, selected_results
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.significance import holm, wilcoxon
from keras_vaf.experiments.results.table import Table, constant_cells, result_cells
from keras_vaf.paper.experiment import Reproduction

COLUMNS = (
    "dataset",
    "rows",
    "activation",
    "hidden",
    "mean",
    "deviation",
    "balanced",
    "published",
    "against",
    "wins/ties/losses",
    "gain",
    "p",
    "optimism",
    "folds",
    "epochs",
    "parameters",
    "seconds",
    "device",
)
_SHOWN = ("dataset", "activation", "mean", "deviation", "published", "gain", "p")


def published_table(done: Reproduction, selection: Selection = "validation") -> Table:
    """Make the table of an experiment from its reports.

    Args:
        done: The reports; all activations with the same seeds and folds.
        selection: As in `select`.

    Returns:
        The table, without pictures.

    Raises:
        ValueError: If activations lack folds that others have.
    """
    found = results_of_experiment(done, selection)
    notes = (*over_datasets(found), *notes_of(done, selection))
    return Table.of(done.title, COLUMNS, rows_of(found), notes, _SHOWN)


def results_of_experiment(
    done: Reproduction, selection: Selection
) -> dict[tuple[str, str], Result]:
    """Return the results of an experiment by the names of dataset and activation."""
    experiment = done.experiment
    return selected_results(
        done.reports,
        experiment.metric,
        experiment.published,
        selection,
        experiment.references,
    )


def rows_of(found: Mapping[tuple[str, str], Result]) -> list[dict[str, str]]:
    """Return the rows of the table: for each dataset, the constant predictor first."""
    rows: list[dict[str, str]] = []
    for dataset in dict.fromkeys(name for name, _ in found):
        own = [result for (name, _), result in found.items() if name == dataset]
        rows += [constant_cells(own[0]), *map(result_cells, own)]
    return rows


def over_datasets(found: Mapping[tuple[str, str], Result]) -> list[str]:
    """Return a sentence per activation: is it better than its reference overall?"""
    means: dict[tuple[str, str], list[float]] = {}
    for (_, name), result in found.items():
        if result.reference is not None:
            gains = means.setdefault((name, result.against), [])
            gains.append(statistics.fmean(result.gains))
    corrected = holm([wilcoxon(gains) for gains in means.values()])
    return [
        f"{name} against {reference} over {len(gains)} datasets: better on "
        f"{sum(gain > 0 for gain in gains)}, worse on "
        f"{sum(gain < 0 for gain in gains)}; Wilcoxon signed-rank p = {p:.3g} "
        "(Holm's correction)."
        for ((name, reference), gains), p in zip(means.items(), corrected, strict=True)
    ]


def notes_of(done: Reproduction, selection: Selection) -> list[str]:
    """Return how the table was made, and how it differs from the published one."""
    reports = done.reports
    sizes: dict[tuple[str, str], set[tuple[int, ...]]] = {}
    for report in reports:
        key = report.protocol.dataset, report.protocol.variant.name
        sizes.setdefault(key, set()).add(report.protocol.hidden)
    most = max(map(len, sizes.values()), default=0)
    return [
        f"Score: {done.experiment.metric}; constant is the predictor that ignores its "
        f"inputs. {gain_note('the named activation')}",
        f"Selection of architecture (of {most}), learning rate and start: {selection}. "
        "Optimism is how much better the mean looks when they are picked by test "
        "scores, as the published ones were.",
        trainings_note(reports),
        *protocol_notes(reports),
        *done.notes,
    ]
