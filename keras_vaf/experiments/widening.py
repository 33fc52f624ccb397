"""A fair baseline: a network with fixed activations and as many parameters."""

from __future__ import annotations

import dataclasses
import itertools

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.rows import rows_of
from keras_vaf.experiments.variants import Variant
from keras_vaf.models import mlp

WIDE_RELU = Variant("relu-wide", "ReLU, as many parameters", "ReLU")


def as_wide(protocol: Protocol, dataset: Dataset) -> Protocol:
    """Return the protocol of a ReLU network with as many parameters.

    Its hidden layers are wider by one factor: the smallest one that gives no fewer
    parameters than the protocol's network has.

    Args:
        protocol: A protocol, of a trainable activation.
        dataset: Its data.

    Returns:
        The same protocol but for the activation and the widths.
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


def _sizes(protocol: Protocol, dataset: Dataset) -> tuple[int, int]:
    """Numbers of the network's inputs and outputs."""
    rows = rows_of(Cell(protocol, seed=0, fold=0), dataset)
    fitted = protocol.preprocessing.fit(dataset, rows.train)
    x, _ = fitted.transform(dataset, rows.train)
    return x.shape[1], len(dataset.class_names or "1")


def _dense_parameters(*widths: int) -> int:
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))
