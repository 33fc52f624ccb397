"""`published_table`, the table of an experiment with the published numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.notes import (
    HOLM_NOTE,
    edge_note,
    gain_note,
    protocol_notes,
    trainings_note,
)
from keras_vaf.experiments.results.result import Result, selected_results
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.table import (
    Table,
    comparison_cells,
    constant_cells,
    direction_cells,
    result_cells,
)
from keras_vaf.research.paper.experiment import Reproduction
from keras_vaf.research.paper.tables.gains_figure import gains_figure
from keras_vaf.research.paper.tables.summaries import (
    Results,
    holm_over_datasets,
    over_datasets,
)

COLUMNS = (
    *("dataset", "rows", "activation", "hidden", "rate", "edge"),
    *("mean", "deviation", "balanced", "published"),
    *("against", "wins/ties/losses", "gain", "p", "p (Holm)", "direction", "optimism"),
    *("folds", "epochs", "mean epochs", "parameters", "seconds", "device"),
)
_SHOWN = ("dataset", "activation", "mean", "against", "gain", "p", "direction")


def published_table(
    done: Reproduction,
    selection: Selection = "validation",
    summary: Callable[[Results], list[str]] = over_datasets,
    gains: bool = False,
) -> Table:
    """Return the table of an experiment, with pictures of the functions that it keeps.

    Args:
        done: The reports; all activations with the same seeds and folds.
        selection: As in `select`.
        summary: Returns the first notes from the results.
        gains: Whether to draw the gains of VAFs.
    """
    experiment, reports = done.experiment, done.reports
    found = selected_results(
        reports,
        experiment.metric,
        experiment.published,
        selection,
    )
    figures = {
        name: comparison_figure([r for r in reports if r.protocol.dataset == name])
        for name in dict.fromkeys(dataset for dataset, _ in found)
        if experiment.functions
    }
    if gains:
        figures["gains"] = gains_figure(found)
    edges = edge_note([result.selected for result in found.values()])
    notes = (*summary(found), *notes_of(done, selection), *edges)
    return Table.of(done.title, COLUMNS, rows_of(found), notes, _SHOWN, figures)


def rows_of(found: Results) -> list[dict[str, str]]:
    """Return the rows of the table: for each dataset, the constant predictor first."""
    corrected = holm_over_datasets(found)
    rows: list[dict[str, str]] = []
    for dataset in dict.fromkeys(name for name, _ in found):
        own = {name: each for (data, name), each in found.items() if data == dataset}
        rows.append(constant_cells(next(iter(own.values()))))
        for name, result in own.items():
            for each in (result, *result.further):
                p = corrected.get((dataset, name, each.against))
                rows.append(_cells(each, each is result) | direction_cells(each, p))
    return rows


def _cells(result: Result, first: bool) -> dict[str, str]:
    """Return the cells of a line; those of further references only compare."""
    cells = result_cells(result)
    if first:
        return cells
    named = {name: cells[name] for name in ("dataset", "rows", "activation")}
    return named | comparison_cells(result)


def notes_of(done: Reproduction, selection: Selection) -> list[str]:
    """Return the notes on scores, selection and training."""
    protocols = [report.protocol for report in done.reports]
    networks = {(each.dataset, each.variant.name, each.hidden) for each in protocols}
    most = max(Counter(network[:2] for network in networks).values(), default=0)
    return [
        f"Score: {done.experiment.metric}; constant is the predictor that ignores its "
        f"inputs. {gain_note('the named activation')} {HOLM_NOTE}",
        f"Selection of architecture (of {most}), learning rate and start: {selection}. "
        "Optimism is how much better the mean looks when they are picked by test "
        "scores, as the published ones were.",
        trainings_note(done.reports),
        *protocol_notes(done.reports),
        *_test_images(done),
        *done.notes,
    ]


def _test_images(done: Reproduction) -> list[str]:
    """Return a note on p-values, if the publisher's test images are used."""
    tests = {r.rows["test"] for r in done.reports if r.protocol.test_rows}
    if not tests:
        return []
    return [
        "If all rows are used, all seeds are tested on the same images: p then covers "
        "starts and validation images only. The standard error of an accuracy of "
        f"{min(tests):,} images is at most {(0.25 / min(tests)) ** 0.5:.3f}."
    ]
