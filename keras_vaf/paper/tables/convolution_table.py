"""The tables of the paper's convolutional networks."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping

from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.significance import holm
from keras_vaf.experiments.results.table import Table
from keras_vaf.paper.experiment import Reproduction
from keras_vaf.paper.tables.published_table import (
    notes_of,
    published_table,
    results_of_experiment,
)


def convolution_table(done: Reproduction, selection: Selection = "validation") -> Table:
    """Make the table of convolutional networks.

    With three datasets, a signed-rank test over datasets cannot find a difference. The
    t-tests of the lines are corrected for their number instead.

    Args:
        done: The reports; all activations with the same seeds and folds.
        selection: As in `select`.

    Returns:
        The table, and pictures of the functions if the experiment keeps them.

    Raises:
        ValueError: If activations lack folds that others have.
    """
    found = results_of_experiment(done, selection)
    names = dict.fromkeys(dataset for dataset, _ in found)
    return dataclasses.replace(
        published_table(done, selection),
        title=_title(done),
        notes=(*_gains(found), *notes_of(done, selection), *_division(done)),
        figures={
            name: comparison_figure(
                [each for each in done.reports if each.protocol.dataset == name]
            )
            for name in names
            if done.experiment.functions
        },
    )


def _title(done: Reproduction) -> str:
    """Return a heading that says how much of the experiment was run."""
    protocols = [report.protocol for report in done.reports]
    limits = ("rows", "epochs", "folds")
    form = dataclasses.replace(
        done.form,
        settings=tuple(
            setting
            for setting in done.form.settings
            if setting.partition("=")[0] not in limits
        ),
    )
    rows, epochs, folds = (
        " or ".join(sorted({str(getattr(protocol, name)) for protocol in protocols}))
        for name in limits
    )
    rows = "all" if rows == "None" else rows
    parts = [form.title, f"{rows} rows", f"at most {epochs} epochs"]
    parts += [f"{folds} folds"] if folds != "1" else ["the publishers' test images"]
    return f"{done.experiment.title}: {', '.join(parts)}"


def _gains(found: Mapping[tuple[str, str], Result]) -> list[str]:
    """Return a sentence for each activation: where it is better than its reference."""
    tested = {key: each.p for key, each in found.items() if each.p is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    parts: dict[tuple[str, str], list[str]] = {}
    for key, result in found.items():
        if result.reference is not None:
            gain = f"{statistics.fmean(result.gains):+.4f} on {key[0]}"
            p = f" (p {p_value(corrected[key])})" if key in corrected else ""
            parts.setdefault((key[1], result.against), []).append(gain + p)
    sentences = [
        f"{name} against {reference}: {', '.join(gains)}."
        for (name, reference), gains in parts.items()
    ]
    if len(corrected) > 1:
        sentences.append(
            f"These p-values have Holm's correction for {len(corrected)} comparisons."
        )
    return sentences


def _division(done: Reproduction) -> list[str]:
    """Return what the publisher's division means for the table, if it is used."""
    tests = {r.rows["test"] for r in done.reports if r.protocol.test_rows}
    if not tests:
        return []
    largest = (0.25 / min(tests)) ** 0.5
    return [
        "Where all rows are used, all seeds are tested on the same images: p speaks of "
        "starts and validation images only. The standard error of an accuracy of "
        f"{min(tests):,} images is at most {largest:.3f}."
    ]
