"""`as_fair`, a ReLU network with as many parameters and tries as two VAFs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.variants import Variant
from keras_vaf.models import mlp

WIDE_RELU = Variant("relu-wide", "ReLU, as many parameters", "ReLU")
"""ReLU in a network with as many parameters as with the trainable activation."""

FAIR_RELU = Variant("relu-fair", "ReLU, as many parameters and tries", "ReLU")
"""ReLU with the parameters of a VAF network and the two starts of two VAFs."""

EITHER = {
    "vaf-either": ("vaf-random", "vaf-relu"),
    "vaf-either-rescaled": ("vaf-random-rescaled", "vaf-relu"),
}
"""Names for the better of two VAFs in each fold, by validation, with the two VAFs."""

_TRIES = 2


def as_wide(protocol: Protocol, dataset: Dataset) -> Protocol:
    """Return the protocol of a ReLU network with as many parameters.

    All hidden layers are widened by the smallest common factor that gives at least as
    many parameters as the network of the protocol has.

    Args:
        protocol: A protocol with a trainable activation.
        dataset: The data of the protocol.

    Returns:
        The protocol with ReLU and larger widths.
    """
    inputs, outputs = _sizes(protocol, dataset)
    network = mlp(
        inputs, protocol.hidden, outputs, lambda: protocol.variant.build(seed=0)
    )
    wanted = network.count_params()
    widths = (
        tuple(round(width * first / protocol.hidden[0]) for width in protocol.hidden)
        for first in itertools.count(protocol.hidden[0])
    )
    hidden = next(w for w in widths if _dense_parameters(inputs, *w, outputs) >= wanted)
    return dataclasses.replace(protocol, variant=WIDE_RELU, hidden=hidden)


def as_fair(protocol: Protocol, dataset: Dataset, tries: int = _TRIES) -> Protocol:
    """Return the protocol of a ReLU network with a VAF's parameters and tries.

    The hidden layers are widened as in `as_wide`. A VAF is tried with several starts.
    For each learning rate, this network is therefore trained from the same number of
    starts, and the start with the best validation score is selected.

    Args:
        protocol: A protocol with a VAF.
        dataset: The data of the protocol.
        tries: Number of starts. The default corresponds to a random start and a start
            at ReLU.

    Returns:
        The protocol with ReLU, larger widths and several starts.
    """
    wide = as_wide(protocol, dataset)
    return dataclasses.replace(wide, variant=FAIR_RELU, starts=tries)


def with_either(reports: Sequence[Report]) -> list[Report]:
    """Add reports of `EITHER` for datasets with a fair ReLU of two tries.

    Args:
        reports: Reports of any activations.

    Returns:
        The reports, and for each cell that both VAFs of a pair have, an additional
        report with the trials of both.
    """
    fair = {
        report.protocol.dataset
        for report in reports
        if report.protocol.variant.name == FAIR_RELU.name
        and report.protocol.starts <= _TRIES
    }
    own = [report for report in reports if report.protocol.dataset in fair]
    joined = [_joined(name, pair) for name in EITHER for pair in _pairs(own, name)]
    return [*reports, *joined]


def _pairs(reports: Sequence[Report], name: str) -> list[list[Report]]:
    """Return the reports of each cell that both VAFs of `EITHER` have."""
    pairs: dict[tuple[str, tuple[int, ...], int, int], list[Report]] = {}
    for report in reports:
        protocol = report.protocol
        if protocol.variant.name in EITHER[name]:
            key = protocol.dataset, protocol.hidden, report.seed, report.fold
            pairs.setdefault(key, []).append(report)
    return [pair for pair in pairs.values() if len(pair) == _TRIES]


def _joined(name: str, pair: Sequence[Report]) -> Report:
    one, other = pair
    variant = dataclasses.replace(one.protocol.variant, name=name)
    return dataclasses.replace(
        one,
        protocol=dataclasses.replace(one.protocol, variant=variant),
        trials=one.trials + other.trials,
        seconds=one.seconds + other.seconds,
        curves={},
        activations=[],
    )


def _sizes(protocol: Protocol, dataset: Dataset) -> tuple[int, int]:
    """Return the numbers of inputs and outputs of the network."""
    # Every fold has as many inputs as all rows together.
    fitted = protocol.preprocessing.fit(dataset, slice(None))
    x, _ = fitted.transform(dataset, slice(1))
    return x.shape[1], len(dataset.class_names or "1")


def _dense_parameters(*widths: int) -> int:
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))
