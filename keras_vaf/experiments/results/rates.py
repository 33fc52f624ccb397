"""`with_all_rates`, which joins protocols that differ only in learning rates."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report, best_on_validation

Cells = dict[tuple[int, int], list[Report]]


def with_all_rates(reports: Sequence[Report]) -> list[Report]:
    """Join the trials of protocols that differ only in their learning rates.

    Args:
        reports: Reports of any protocols.

    Returns:
        The reports, where one report with all trials replaces the reports of a cell
        that several protocols have. Cells that lack a learning rate of other cells are
        left out.
    """
    groups: dict[str, Cells] = {}
    for report in reports:
        cells = groups.setdefault(_without_rates(report.protocol).digest, {})
        cells.setdefault((report.seed, report.fold), []).append(report)
    return [report for cells in groups.values() for report in _of_group(cells)]


def _without_rates(protocol: Protocol) -> Protocol:
    """Return a protocol without learning rates, for comparison."""
    rates = (1.0,) if protocol.rates else ()
    return dataclasses.replace(protocol, replicas=1, rates=rates)


def _of_group(cells: Cells) -> list[Report]:
    """Return the joined reports of protocols that differ only in learning rates."""
    every = [report for own in cells.values() for report in own]
    if len({report.protocol.rates for report in every}) == 1:
        return every
    most = max(map(len, cells.values()))
    return [_joined(own) for own in cells.values() if len(own) == most]


def _joined(own: Sequence[Report]) -> Report:
    """Return one report of a cell with the trials of several reports."""
    trials = tuple(trial for report in own for trial in report.trials)
    best = best_on_validation(trials, own[0].protocol.metric)
    rates = tuple(sorted(rate for report in own for rate in report.protocol.rates))
    return dataclasses.replace(
        next(report for report in own if best in report.trials),
        protocol=dataclasses.replace(own[0].protocol, rates=rates, replicas=1),
        trials=trials,
        seconds=sum(report.seconds for report in own),
    )
