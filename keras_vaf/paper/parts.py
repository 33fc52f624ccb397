"""`fully_connected` and `convolution`, the paper's tables as arms and recipes."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
from matplotlib.figure import Figure

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Arm, Recipe, find_arms
from keras_vaf.experiments.tables import Text
from keras_vaf.paper.networks import KERNEL_SIZE, ConvolutionRecipe

ARCHITECTURES = (
    *((10,), (25,), (50,), (100,), (25, 10), (50, 10), (100, 10)),
    *((50, 25), (100, 25), (100, 50)),
)
"""Widths of the hidden layers, in the paper's order."""

LARGE = 5_000
"""Number of rows from which data are trained with RMSprop and not with Rprop."""

_FILE = Path(__file__).with_name("recipes.json")

RECIPES = json.loads(_FILE.read_text(encoding="utf-8"))
"""Settings of the trainings. Docstrings name those that the paper does not specify."""

_QUICK_ARCHITECTURES = ((10,), (25, 10))
_RAW_TARGETS = ("delta_elevators", "elevators")
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


class Reproduction(NamedTuple):
    """The results of an experiment.

    Attributes:
        table: The numbers, next to those of the paper. Its columns depend on the
            experiment.
        text: The same for readers, with notes.
        figures: Pictures by name.
        records: All trainings, as from `keras_vaf.experiments.records`, with the column
            `part`: the table of the paper to which they belong.
        path: File of the text. The pictures are next to it.
    """

    table: pandas.DataFrame
    text: Text
    figures: dict[str, Figure]
    records: pandas.DataFrame = None
    path: Path = Path()


def lines_of(table: pandas.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the columns and lines of a text with all columns of a table."""
    rows = table.itertuples(index=False, name=None)
    lines = [[_cell(x) for x in each] for each in rows]
    return [*table], lines


def _cell(value: Any) -> str:
    """Return a value as text; "" for NaN."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4f}"
    return str(value)


def fully_connected(dataset: Dataset, quick: bool) -> list[Part]:
    """Return the parts of a regression or classification: one for each architecture.

    The paper does not specify all settings. Here, RMSprop has batches of 128, the first
    step of Rprop is 0.01, inputs are standardised, targets are scaled to [0, 1] except
    for two datasets, and a fifth of the other rows is for validation. The quick form
    has fewer architectures, folds, epochs and learning rates.
    """
    arms = find_arms("relu,vaf-random,vaf-random-rescaled,vaf-relu")
    recipe = Recipe(**RECIPES["large" if len(dataset.x) >= LARGE else "small"])
    if dataset.name in _RAW_TARGETS:
        recipe = replace(recipe, targets="none")
    if quick:
        rates = recipe.learning_rates[:1]
        recipe = replace(recipe, epochs=30, folds=3, learning_rates=rates)
    return [
        Part(dataset.task, arms, replace(recipe, hidden=hidden))
        for hidden in (_QUICK_ARCHITECTURES if quick else ARCHITECTURES)
    ]


def convolution(dataset: Dataset, quick: bool) -> list[Part]:
    """Return `cnet_A` in ten folds with SGD, and `cnet_B` with Adam.

    The paper specifies neither learning rates and momentum nor batch size and patience.
    Here, they are 0.01 (SGD) and 0.001 (Adam), 0.9, 128 and 30. The test rows of
    `cnet_B` are the publisher's 10,000 test images. The quick form has two epochs, on
    `few_images`.
    """
    names = "relu,vaf-random,vaf-random-rescaled,vaf-relu,kaf"
    relu, vaf, rescaled, vaf_relu, kaf = (arm.updated(k=5) for arm in find_arms(names))
    kaf = replace(kaf, arguments={**kaf.arguments, "D": 20})
    hidden = (192,) * (3 if dataset.name == "cifar10" else 2)
    cnet_a = ConvolutionRecipe(hidden, **RECIPES["cnet_A"])
    cnet_b = ConvolutionRecipe(**RECIPES["cnet_B"])
    if quick:
        cnet_a, cnet_b = (
            replace(each, epochs=2, batch_size=32, folds=min(2, each.folds))
            for each in (cnet_a, cnet_b)
        )
        cnet_b = replace(cnet_b, test_size=_QUICK_TEST_IMAGES)
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
