"""The paper's regressions and classifications: fully connected networks on tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from keras_vaf.datasets import CATALOGUE, Dataset, Preprocessing
from keras_vaf.experiments.more_rates import more_rates
from keras_vaf.experiments.optimizer import PAPER_RPROP, Optimizer
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.variants import find_variants
from keras_vaf.research.paper.experiment import Experiment, Form
from keras_vaf.research.paper.ours import our_fields, our_protocols
from keras_vaf.research.paper.published import (
    CLASSIFICATION,
    REGRESSION,
    Published,
    with_rescaled,
)
from keras_vaf.research.paper.tables.published_table import published_table

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

ARMS = find_variants("relu,vaf-random,vaf-random-rescaled,vaf-relu")
"""ReLU, VAFs of both random starts, and the VAF that starts as ReLU."""

RATES = tuple(np.linspace(1e-4, 1e-1, 10).tolist())
"""The paper's learning rates for RMSprop: ten equispaced values."""

_LARGE = 5_000

SMALL = tuple(entry.name for entry in CATALOGUE if entry.size.rows < _LARGE)
"""Names of the datasets with fewer than 5,000 rows."""

_RAW_TARGETS = ("delta_elevators", "elevators")
_QUICK_ARCHITECTURES: Sequence[tuple[int, ...]] = ((10,), (25, 10))
_QUICK: dict[str, Any] = {"epochs": 30, "folds": 3}


def protocols_of(dataset: Dataset, form: Form | None = None) -> list[Protocol]:
    """Return the protocols of a dataset: every activation in every architecture.

    The activations are the paper's three, and a VAF whose random start is rescaled.

    The paper does not specify all settings. Here, RMSprop has batches of 128, the first
    step of Rprop is 0.01, inputs are standardised, targets are scaled to [0, 1] except
    for two datasets, and a fifth of the other rows is for validation.

    Args:
        dataset: The data.
        form: `manner="paper"`, or `"ours"`, which is described in `our_protocols`;
            `quick` has fewer architectures, folds, epochs and learning rates.

    Example:

    >>> from keras_vaf.datasets import load
    >>> protocol = protocols_of(load("wine"))[0]
    >>> protocol.optimizer.arguments["eta_plus"], protocol.hidden
    (1.01, (10,))
    """
    form = form or Form()
    if form.manner == "ours":
        quick = _QUICK_ARCHITECTURES if form.quick else ()
        changed = _QUICK if form.quick else {}
        return our_protocols(dataset, form.architectures or quick, changed)
    fields = fields_of(dataset, form)
    architectures = _QUICK_ARCHITECTURES if form.quick else ARCHITECTURES
    protocols = []
    for hidden in form.architectures or architectures:
        protocols += [
            Protocol.of(dataset, variant, hidden=hidden, **fields) for variant in ARMS
        ]
    return protocols


def fields_of(dataset: Dataset, form: Form) -> dict[str, Any]:
    """Return the fields that all protocols of a dataset share."""
    if form.manner == "ours":
        return our_fields(dataset) | (_QUICK if form.quick else {})
    raw = dataset.task == "classification" or dataset.name in _RAW_TARGETS
    fields: dict[str, Any] = {
        "preprocessing": Preprocessing(targets="none" if raw else "min-max"),
        "optimizer": PAPER_RPROP,
        "epochs": 300,
    }
    if len(dataset.x) >= _LARGE:
        rates = RATES[:1] if form.quick else RATES
        fields |= {"optimizer": Optimizer("RMSprop"), "rates": rates, "batch_size": 128}
    return fields | (_QUICK if form.quick else {})


def _experiment(
    name: str,
    title: str,
    published: tuple[Published, ...],
    metric: str,
    ours: tuple[str, ...] = (),
) -> Experiment:
    return Experiment(
        name,
        title,
        tuple(dict.fromkeys(each.dataset for each in published)),
        protocols_of,
        partial(published_table, gains=True),
        with_rescaled(published),
        metric,
        ARCHITECTURES,
        quick_rows=1_000,
        ours=ours,
        more=more_rates,
    )


REGRESSIONS = _experiment("regression", "Regression", REGRESSION, "scaled_rmse")
CLASSIFICATIONS = _experiment(
    "classification",
    "Classification",
    CLASSIFICATION,
    "accuracy",
    ours=("sensorless",),
)
