"""A comparison that is fair to ReLU: as many parameters and as many tries."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports import Report
from keras_vaf.experiments.variants import Variant
from keras_vaf.experiments.widening import as_wide

FAIR_RELU = Variant("relu-fair", "ReLU, as many parameters and tries", "ReLU")
"""ReLU with what two VAFs have together: their parameters and their two starts."""

EITHER = "vaf-either"
"""Name of the better of two VAFs in each fold, by validation."""

_TRIED = ("vaf-random", "vaf-relu")


def as_fair(protocol: Protocol, dataset: Dataset) -> Protocol:
    """Return the protocol of a ReLU network with a VAF's parameters and tries.

    Its hidden layers are widened as by `as_wide`, and it is trained from two starts at
    each learning rate, of which the better one on the validation rows stands: a VAF is
    tried with a random start and with that of ReLU.

    Args:
        protocol: The protocol of a VAF.
        dataset: Its data.

    Returns:
        The same protocol but for activation, widths and starts.
    """
    wide = as_wide(protocol, dataset)
    return dataclasses.replace(wide, variant=FAIR_RELU, starts=len(_TRIED))


def with_either(reports: Sequence[Report]) -> list[Report]:
    """Add what two VAFs come to if both are tried, where a fair ReLU is there as well.

    Args:
        reports: Reports of any activations.

    Returns:
        The reports, and for each cell that both VAFs have a report whose trials are
        those of both.
    """
    fair = {
        report.protocol.dataset
        for report in reports
        if report.protocol.variant.name == FAIR_RELU.name
    }
    pairs: dict[tuple[str, tuple[int, ...], int, int], list[Report]] = {}
    for report in reports:
        protocol = report.protocol
        if protocol.variant.name in _TRIED and protocol.dataset in fair:
            key = protocol.dataset, protocol.hidden, report.seed, report.fold
            pairs.setdefault(key, []).append(report)
    both = [pair for pair in pairs.values() if len(pair) == len(_TRIED)]
    return [*reports, *(_joined(*pair) for pair in both)]


def _joined(one: Report, other: Report) -> Report:
    variant = dataclasses.replace(one.protocol.variant, name=EITHER)
    return dataclasses.replace(
        one,
        protocol=dataclasses.replace(one.protocol, variant=variant),
        trials=one.trials + other.trials,
        seconds=one.seconds + other.seconds,
        curves={},
        activations=[],
    )
