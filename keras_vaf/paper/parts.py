"""`fully_connected` and `convolution`, the paper's tables as arms and recipes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.paper.networks import KERNEL_SIZE, ConvolutionRecipe
from keras_vaf.study import Arm, Recipe, find_arms
from keras_vaf.study.tables import Text

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

ARCHITECTURES = (
    *((10,), (25,), (50,), (100,), (25, 10), (50, 10), (100, 10)),
    *((50, 25), (100, 25), (100, 50)),
)
"""Widths of the hidden layers, in the paper's order."""

RATES = tuple(np.linspace(1e-4, 1e-1, 10).tolist())
"""The paper's learning rates for RMSprop: ten equispaced values."""

LARGE = 5_000
"""Number of rows from which data are trained with RMSprop and not with Rprop."""

RPROP: dict[str, Any] = {
    "optimizer": "Rprop",
    "optimizer_arguments": {"eta_plus": 1.01, "eta_minus": 0.5},
    "learning_rates": (0.01,),
    "batch_size": None,
}
"""Rprop as in the paper, which does not specify the first step."""

RMSPROP: dict[str, Any] = {
    "optimizer": "RMSprop",
    "optimizer_arguments": {},
    "batch_size": 128,
}

K = 5
"""Hidden units of a VAF in a convolutional network."""

_QUICK_ARCHITECTURES = ((10,), (25, 10))
_RAW_TARGETS = ("delta_elevators", "elevators")
_TEST_IMAGES = 10_000
_QUICK_TEST_IMAGES = 50


class Part(NamedTuple):
    """Activations and the recipe of their networks. The first one is the baseline.

    The title is the name of a table, as in `published`, or of an experiment.
    """

    title: str
    arms: tuple[Arm, ...]
    recipe: Recipe


class Trained(NamedTuple):
    """A part with its dataset, and the records of its trainings."""

    dataset: Dataset
    part: Part
    records: pandas.DataFrame


class Report(NamedTuple):
    """The results of an experiment as numbers and text, and pictures by name."""

    table: pandas.DataFrame
    text: Text
    figures: dict[str, Figure]

    @classmethod
    def of(cls, table: pandas.DataFrame, notes: list[str], **figures: Figure) -> Report:
        """Return a report whose text has all columns of the table."""
        lines = [
            [f"{x:.4f}" if isinstance(x, float) else str(x) for x in row]
            for row in table.itertuples(index=False, name=None)
        ]
        return cls(table, Text("", [*table], lines, notes), figures)


def fully_connected(dataset: Dataset, quick: bool) -> list[Part]:
    """Return the parts of a regression or classification: one for each architecture.

    The arms are ReLU, VAFs with a plain and a rescaled random start, and the VAF that
    starts as ReLU.

    The paper does not specify all settings. Here, RMSprop has batches of 128, the first
    step of Rprop is 0.01, inputs are standardised, targets are scaled to [0, 1] except
    for two datasets, and a fifth of the other rows is for validation.

    Args:
        dataset: The data.
        quick: Whether to have fewer architectures, folds, epochs and learning rates.
    """
    arms = find_arms("relu,vaf-random,vaf-random-rescaled,vaf-relu")
    recipe = Recipe(
        epochs=30 if quick else 300,
        patience=None,
        folds=3 if quick else 10,
        targets="none" if dataset.name in _RAW_TARGETS else "min-max",
        **RPROP,
    )
    if len(dataset.x) >= LARGE:
        rates = RATES[:1] if quick else RATES
        recipe = replace(recipe, learning_rates=rates, **RMSPROP)
    return [
        Part(dataset.task, arms, replace(recipe, hidden=hidden))
        for hidden in (_QUICK_ARCHITECTURES if quick else ARCHITECTURES)
    ]


def convolution(dataset: Dataset, quick: bool) -> list[Part]:
    """Return `cnet_A` in ten folds with SGD, and `cnet_B` with Adam.

    The paper specifies neither learning rates and momentum nor batch size and patience.
    Here, they are 0.01 (SGD) and 0.001 (Adam), 0.9, 128 and 30. The test rows of
    `cnet_B` are the publisher's 10,000 test images.

    Args:
        dataset: The images.
        quick: Whether to have two epochs. The images must then be `few_images`.
    """
    names = "relu,vaf-random,vaf-random-rescaled,vaf-relu,kaf"
    relu, vaf, rescaled, vaf_relu, kaf = (arm.updated(k=K) for arm in find_arms(names))
    kaf = replace(kaf, arguments={**kaf.arguments, "D": 20})
    hidden = (192,) * (3 if dataset.name == "cifar10" else 2)
    cnet_a = ConvolutionRecipe(
        hidden,
        (0.01,),
        "SGD",
        {"momentum": 0.9},
        epochs=2 if quick else 300,
        batch_size=32 if quick else 128,
        folds=2 if quick else 10,
    )
    cnet_b = replace(
        cnet_a,
        hidden=(150, 150),
        learning_rates=(0.001,),
        optimizer="Adam",
        optimizer_arguments={},
        folds=1,
        test_size=_QUICK_TEST_IMAGES if quick else _TEST_IMAGES,
        validation_fraction=0.1,
    )
    others = relu, vaf, kaf, network_in_network(150), rescaled, vaf_relu
    return [
        Part("cnet_A", (relu, vaf, rescaled, vaf_relu), cnet_a),
        Part("cnet_B", others, cnet_b),
    ]


def network_in_network(filters: int) -> Arm:
    """Return the arm with an `MLPConv` in place of each convolution and activation."""
    sizes = {"filters": [filters] * 3, "kernel_size": KERNEL_SIZE, "padding": "same"}
    return Arm("nin", "NIN", "MLPConv", sizes)


def few_images(dataset: Dataset) -> Dataset:
    """Return the first 250 images, and the last 50 for the test."""
    rows = np.r_[:250, len(dataset.x) - _QUICK_TEST_IMAGES : len(dataset.x)]
    return replace(dataset, x=dataset.x[rows], y=dataset.y[rows])
