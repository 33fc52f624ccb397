"""`our_protocols`, with equal and sufficient training for every activation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.experiments.comparison_protocols import OUR_TRAINING
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.variants import find_variants
from keras_vaf.training.recipe import LEARNING_RATES

ARMS = find_variants("relu,prelu,gelu,silu,tanh,vaf-relu,vaf-silu,vaf-random")
"""Fixed activations, PReLU, and VAFs of three starts."""

ARCHITECTURES = ((50, 25), (100, 50))
"""Widths of the hidden layers."""

SMALL_ARCHITECTURES = (*ARCHITECTURES, (25,), (100,))
"""Widths of the hidden layers, for data of fewer than 5,000 rows."""

_LARGE = 5_000
_FIELDS: dict[str, Any] = {**OUR_TRAINING, "rates": LEARNING_RATES, "epochs": 500}


def our_fields(dataset: Dataset) -> dict[str, Any]:
    """Return the fields that all protocols of `ours` share; targets are scaled."""
    preprocessing = Preprocessing()
    if dataset.task == "regression":
        preprocessing = Preprocessing(targets="min-max")
    return {"preprocessing": preprocessing, **_FIELDS}


def our_protocols(
    dataset: Dataset,
    architectures: Sequence[tuple[int, ...]] = (),
    changed: dict[str, Any] | None = None,
) -> list[Protocol]:
    """Return the protocols of `ours`: every arm in every architecture.

    Args:
        dataset: The data.
        architectures: Widths of the hidden layers; `()` takes those of the data's size.
        changed: Other values of the fields.
    """
    fields = our_fields(dataset) | (changed or {})
    small = len(dataset.x) < _LARGE
    protocols = []
    for hidden in architectures or (SMALL_ARCHITECTURES if small else ARCHITECTURES):
        protocols += [Protocol.of(dataset, a, hidden=hidden, **fields) for a in ARMS]
    return protocols
