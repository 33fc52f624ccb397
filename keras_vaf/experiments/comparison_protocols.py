"""`comparison_protocols`, which returns a protocol for each activation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.optimizer import Optimizer
from keras_vaf.experiments.protocol import Protocol, with_replicas
from keras_vaf.experiments.runs.references import reference_protocols
from keras_vaf.experiments.variants import Variant, find_variants
from keras_vaf.experiments.wide_relu import as_wide
from keras_vaf.training import recipe

OUR_TRAINING: dict[str, Any] = {
    "optimizer": Optimizer(recipe.OPTIMIZER),
    "batch_size": recipe.BATCH_SIZE,
    "patience": recipe.PATIENCE,
}
"""Fields of protocols that train by the recipe: mini-batches and early stopping."""


def comparison_protocols(
    dataset: Dataset,
    variants: Sequence[Variant] = find_variants(",".join(recipe.ACTIVATIONS)),
    *,
    k: int = 3,
    g: str | None = None,
    hidden: tuple[int, ...] = (100, 50),
    learning_rates: tuple[float, ...] = recipe.LEARNING_RATES,
    epochs: int = recipe.EPOCHS,
    folds: int = recipe.FOLDS,
    missing: Literal["mean", "drop"] | None = None,
    equal_parameters: bool = False,
    replicas: int | Literal["auto"] = "auto",
    references: bool = False,
    starts: int = 1,
) -> list[Protocol]:
    """Return protocols that differ only in their activation, and train by the recipe.

    The recipe is Adam on mini-batches with early stopping. The validation loss selects
    a learning rate for each activation and fold.

    Args:
        dataset: The data.
        variants: The activations. The first one is the baseline.
        k: Number of hidden units of a VAF.
        g: Fixed activation of a VAF's hidden units; `None` for that of its variant.
        hidden: Widths of the hidden layers.
        learning_rates: At least one learning rate to select from.
        epochs: Largest number of epochs.
        folds: Number of folds.
        missing: Treatment of missing inputs; `None` for the default of `Preprocessing`.
        equal_parameters: Whether to add a wider ReLU network with as many parameters as
            the largest of the other networks.
        replicas: As in `with_replicas`.
        references: Whether to add a linear model and gradient boosted trees.
        starts: Number of starts of each network at each learning rate.

    Raises:
        ValueError: If a value is out of range.

    Example:

    >>> protocols = comparison_protocols(keras_vaf.datasets.load("wine"), epochs=10)
    >>> [protocol.variant.name for protocol in protocols]
    ['relu', 'gelu', 'silu', 'tanh', 'prelu', 'vaf-relu', 'vaf-silu']
    """
    protocol = Protocol.of(
        dataset,
        variants[0],
        hidden=hidden,
        epochs=epochs,
        folds=folds,
        rates=learning_rates,
        starts=starts,
        **OUR_TRAINING,
    )
    if missing is not None:
        preprocessing = dataclasses.replace(protocol.preprocessing, missing=missing)
        protocol = dataclasses.replace(protocol, preprocessing=preprocessing)
    changed = {"k": k} if g is None else {"k": k, "g": g}
    protocols = [
        dataclasses.replace(protocol, variant=variant.updated(**changed))
        for variant in variants
    ]
    if equal_parameters:
        wide = (as_wide(protocol, dataset) for protocol in protocols)
        protocols.append(max(wide, key=lambda protocol: protocol.hidden))
    protocols = [with_replicas(protocol, replicas) for protocol in protocols]
    return protocols + (reference_protocols(protocol) if references else [])
