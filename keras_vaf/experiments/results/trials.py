"""`with_all_trials`, which joins the trainings of an activation in each cell."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report, best_on_validation
from keras_vaf.experiments.variants import SEARCHED

Cells = dict[tuple[int, int], list[Report]]


def check_reports(reports: Sequence[Report]) -> None:
    """Raise a `ValueError` unless all elements of a sequence are reports."""
    if not all(isinstance(report, Report) for report in reports):
        raise ValueError(
            "Expected reports, such as those that `read_reports` returns. "
            f"Received: {reports!r:.200}"
        )


def by_digest(
    reports: Sequence[Report], changed: Callable[[Protocol], Protocol]
) -> dict[str, list[Report]]:
    """Return the reports by the hash of their protocols after a change.

    Args:
        reports: Reports of any protocols.
        changed: Returns the protocol whose hash counts. It is called once for each
            object, since the reports of a file share their protocols.
    """
    check_reports(reports)
    digests: dict[int, str] = {}
    found: dict[str, list[Report]] = {}
    for report in reports:
        key = id(report.protocol)
        if key not in digests:
            digests[key] = changed(report.protocol).digest
        found.setdefault(digests[key], []).append(report)
    return found


def with_all_trials(reports: Sequence[Report]) -> list[Report]:
    """Join the trials of protocols that differ only in learning rates or drawn values.

    Args:
        reports: Reports of any protocols, such as those of a search.

    Returns:
        The reports, where one report with all trials replaces the reports of a cell
        that several protocols have. Cells that lack a trial of other cells are left
        out.
    """
    groups = by_digest(reports, _without_draws).values()
    return [report for group in groups for report in _of_group(group)]


def _without_draws(protocol: Protocol) -> Protocol:
    """Return a protocol without the settings in which the trials of a cell differ."""
    rates = (1.0,) if protocol.rates else ()
    plain = dataclasses.replace(protocol, replicas=1, rates=rates)
    if protocol.variant.name != SEARCHED.name:
        return plain
    return dataclasses.replace(plain, variant=SEARCHED, epochs=1)


def _drawn(protocol: Protocol) -> tuple[object, ...]:
    return protocol.rates, protocol.epochs, repr(protocol.variant.arguments)


def _of_group(group: Sequence[Report]) -> list[Report]:
    """Return the joined reports of the cells of one activation."""
    cells: Cells = {}
    for report in group:
        cells.setdefault((report.seed, report.fold), []).append(report)
    whole = max(map(len, cells.values()))
    if len({_drawn(report.protocol) for report in group}) == 1:
        return [report for own in cells.values() for report in own]
    joined = [own for own in cells.values() if len(own) == whole]
    protocol = dataclasses.replace(
        _without_draws(joined[0][0].protocol),
        rates=tuple(sorted({rate for r in joined[0] for rate in r.protocol.rates})),
        epochs=max(report.protocol.epochs for report in joined[0]),
    )
    return [_joined(own, protocol) for own in joined]


def _joined(own: Sequence[Report], protocol: Protocol) -> Report:
    """Return one report of a cell with the trials of several reports."""
    trials = tuple(trial for report in own for trial in report.trials)
    best = best_on_validation(trials, protocol.metric)
    return dataclasses.replace(
        next(report for report in own if best in report.trials),
        protocol=protocol,
        trials=trials,
        seconds=math.fsum(report.seconds for report in own),
    )
