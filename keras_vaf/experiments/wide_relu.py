"""`as_wide`, a ReLU network with as many parameters as another network."""

from __future__ import annotations

import dataclasses
import itertools

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.variants import Variant
from keras_vaf.models import mlp

WIDE_RELU = Variant("relu-wide", "ReLU, as many parameters", "ReLU")
"""ReLU in a network with as many parameters as with the trainable activation."""


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


def _sizes(protocol: Protocol, dataset: Dataset) -> tuple[int, int]:
    """Return the numbers of inputs and outputs of the network."""
    # Every fold has as many inputs as all rows together.
    fitted = protocol.preprocessing.fit(dataset, slice(None))
    x, _ = fitted.transform(dataset, slice(1))
    return x.shape[1], len(dataset.class_names or "1")


def _dense_parameters(*widths: int) -> int:
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))
