"""`comparison_protocols`, which returns a protocol for each activation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.fair_relu import as_wide
from keras_vaf.experiments.protocol import (
    PAPER_RPROP,
    RPROP,
    Optimizer,
    Protocol,
    with_replicas,
)
from keras_vaf.experiments.variants import VARIANTS, Variant
from keras_vaf.training import recipe
from keras_vaf.utils import check_choice

OPTIMIZERS = {"careful": RPROP, "paper": PAPER_RPROP}
"""Rprop with the usual growth of its steps, 1.2, and with that of the paper, 1.01."""

OUR_TRAINING: dict[str, Any] = {
    "optimizer": Optimizer(recipe.OPTIMIZER),
    "batch_size": recipe.BATCH_SIZE,
    "patience": recipe.PATIENCE,
}
"""Fields of protocols that train by the recipe: mini-batches and early stopping."""


def comparison_protocols(
    dataset: Dataset,
    variants: Sequence[Variant] = VARIANTS,
    *,
    k: int = 3,
    g: str = "relu",
    hidden: tuple[int, ...] = (100, 50),
    optimizer: str = "careful",
    learning_rates: tuple[float, ...] = (),
    epochs: int = 300,
    folds: int = 10,
    missing: Literal["mean", "drop"] | None = None,
    equal_parameters: bool = False,
    replicas: int | Literal["auto"] = "auto",
) -> list[Protocol]:
    """Return protocols that differ only in their activation.

    Args:
        dataset: The data.
        variants: The activations. The first one is the baseline.
        k: Number of hidden units of a VAF.
        g: Fixed activation of a VAF's hidden units.
        hidden: Widths of the hidden layers.
        optimizer: A key of `OPTIMIZERS`, for training on full batches.
        learning_rates: Learning rates of Adam. The validation loss selects one for each
            activation and fold. Training is then as in the protocol `ours`: on
            mini-batches, with early stopping. `()` trains with `optimizer` instead.
        epochs: Largest number of epochs.
        folds: Number of folds.
        missing: Treatment of missing inputs; `None` for the default of `Preprocessing`.
        equal_parameters: Whether to add a wider ReLU network with as many parameters as
            the largest of the other networks.
        replicas: As in `with_replicas`.

    Raises:
        ValueError: If a value is out of range.

    Example:

    >>> protocols = comparison_protocols(keras_vaf.datasets.load("wine"), epochs=10)
    >>> [protocol.variant.name for protocol in protocols]
    ['relu', 'vaf-random', 'vaf-relu']
    """
    check_choice("optimizer", optimizer, OPTIMIZERS)
    protocol = Protocol.of(
        dataset,
        variants[0],
        hidden=hidden,
        epochs=epochs,
        folds=folds,
        **(
            {**OUR_TRAINING, "rates": learning_rates}
            if learning_rates
            else {"optimizer": OPTIMIZERS[optimizer]}
        ),
    )
    if missing is not None:
        preprocessing = dataclasses.replace(protocol.preprocessing, missing=missing)
        protocol = dataclasses.replace(protocol, preprocessing=preprocessing)
    protocols = [
        dataclasses.replace(protocol, variant=variant.updated(k=k, g=g))
        for variant in variants
    ]
    if equal_parameters:
        wide = (as_wide(protocol, dataset) for protocol in protocols)
        protocols.append(max(wide, key=lambda protocol: protocol.hidden))
    return [with_replicas(protocol, replicas) for protocol in protocols]
