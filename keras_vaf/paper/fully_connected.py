"""The paper's regressions and classifications: fully connected networks on tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.experiments.fair_relu import as_fair
from keras_vaf.experiments.protocol import PAPER_RPROP, RPROP, Optimizer, Protocol
from keras_vaf.experiments.variants import VARIANTS
from keras_vaf.paper.experiment import Experiment, Form
from keras_vaf.paper.published import CLASSIFICATION, REGRESSION, Published
from keras_vaf.paper.tables.published_table import published_table

ARCHITECTURES = (
    (10,),
    (25,),
    (50,),
    (100,),
    (25, 10),
    (50, 10),
    (100, 10),
    (50, 25),
    (100, 25),
    (100, 50),
)
"""Widths of the hidden layers, in the paper's order."""

RATES = tuple(np.linspace(1e-4, 1e-1, 10).tolist())
"""The paper's learning rates for RMSprop: ten equispaced values."""

SMALL = (
    "servo",
    "energy_cooling",
    "energy_heating",
    "yacht",
    "liver",
    "wine",
    "image_segmentation",
    "cardiotocography",
    "seismic_bumps",
    "dermatology",
    "diabetic_retinopathy",
    "qsar_biodegradation",
    "climate_crashes",
)
"""The data of fewer than 5,000 rows."""

_LARGE = 5_000
_RAW_TARGETS = ("delta_elevators", "elevators")
_QUICK_ARCHITECTURES: Sequence[tuple[int, ...]] = ((10,), (25, 10))
_QUICK: dict[str, Any] = {"epochs": 30, "folds": 3}


def protocols_of(dataset: Dataset, form: Form | None = None) -> list[Protocol]:
    """Return the protocols of a dataset: every activation in every architecture.

    Beside the paper's three activations there is a ReLU that has as many parameters and
    as many tries as the VAFs, as in `as_fair`.

    What the paper leaves open is settled here, and printed with each table: batches of
    128 for RMSprop, a first Rprop step of 0.01, standardised inputs, targets scaled to
    [0, 1] but for two datasets, a fifth of the rest for validation.

    Args:
        dataset: The data.
        form: `manner="paper"` (eta+ 1.01, 300 epochs) or `"ours"` (eta+ 1.2, up to 2000
            epochs that end 200 after the best one); `quick` has fewer architectures,
            folds, epochs and rates.

    Returns:
        The protocols.

    Example:

    >>> from keras_vaf.datasets import load
    >>> protocol = protocols_of(load("wine"), Form("ours"))[0]
    >>> protocol.optimizer.arguments["eta_plus"], protocol.hidden
    (1.2, (10,))
    """
    form = form or Form()
    fields = fields_of(dataset, form)
    architectures = _QUICK_ARCHITECTURES if form.quick else ARCHITECTURES
    protocols = []
    for hidden in form.architectures or architectures:
        protocols += [
            Protocol.of(dataset, variant, hidden=hidden, **fields)
            for variant in VARIANTS
        ]
        protocols.append(as_fair(protocols[-1], dataset))
    return protocols


def fields_of(dataset: Dataset, form: Form) -> dict[str, Any]:
    """Return what all protocols of a dataset have in common."""
    raw = dataset.task == "classification" or dataset.name in _RAW_TARGETS
    fields: dict[str, Any] = {
        "preprocessing": Preprocessing(targets="none" if raw else "min-max")
    }
    if form.manner == "paper":
        fields |= {"optimizer": PAPER_RPROP, "epochs": 300}
    else:
        fields |= {"optimizer": RPROP, "epochs": 2000, "patience": 200}
    if len(dataset.x) >= _LARGE:
        rates = RATES[:1] if form.quick else RATES
        fields |= {"optimizer": Optimizer("RMSprop"), "rates": rates, "batch_size": 128}
    return fields | (_QUICK if form.quick else {})


def _experiment(
    name: str, title: str, published: tuple[Published, ...], metric: str
) -> Experiment:
    return Experiment(
        name,
        title,
        tuple(dict.fromkeys(each.dataset for each in published)),
        protocols_of,
        published_table,
        published,
        metric,
        ARCHITECTURES,
        quick_rows=1_000,
    )


REGRESSIONS = _experiment("regression", "Regression", REGRESSION, "scaled_rmse")
CLASSIFICATIONS = _experiment(
    "classification", "Classification", CLASSIFICATION, "accuracy"
)
