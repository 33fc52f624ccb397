"""`more_rates`, which extends the learning rates of a study at their edges."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.selection import select
from keras_vaf.training.recipe import LEARNING_RATES, further_rates


def more_rates(reports: Sequence[Report]) -> list[Protocol]:
    """Return protocols with further learning rates, if an activation selects an edge.

    If an activation selects the lowest or the highest learning rate in a fold, all
    activations get another one, which is lower or higher by a factor of 3. Each side is
    extended twice at most. A list with fewer learning rates than the recipe has is not
    extended.

    Args:
        reports: All reports of one dataset.

    Returns:
        Protocols with only the additional learning rates; empty if none is needed.
    """
    protocols = {report.protocol.digest: report.protocol for report in reports}
    originals = [each for each in protocols.values() if len(each.rates) > 1]
    tried = {rate for each in protocols.values() for rate in each.rates}
    if not originals or len(tried) < len(LEARNING_RATES):
        return []
    trials = [trial for each in select(reports).values() for trial in each.trials]
    selected = {trial.rate for trial in trials if trial.rate is not None}
    new = further_rates(originals[0].rates, tried, selected)
    return [
        dataclasses.replace(each, rates=(rate,)) for rate in new for each in originals
    ]
