"""The paper's convolutional networks: ten folds with SGD, one division with Adam.

The published numbers are transcribed from the paper's two tables of accuracies. The
second table reports single trainings, so that its numbers have no deviation.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.optimizer import Optimizer
from keras_vaf.experiments.protocol import Architecture, Protocol
from keras_vaf.experiments.results.result import Published
from keras_vaf.experiments.variants import CONTROLS, FAMILY, Variant
from keras_vaf.research.paper.experiment import Experiment, Form
from keras_vaf.research.paper.fully_connected import ARMS
from keras_vaf.research.paper.published import with_rescaled
from keras_vaf.research.paper.tables.published_table import published_table
from keras_vaf.research.paper.tables.summaries import by_dataset

DATASETS = ("cifar10", "mnist", "fashion_mnist")

_TWO, _THREE, _B = (192,) * 2, (192,) * 3, (150,) * 2

PUBLISHED_A = (
    Published("cifar10", "relu", 0.857, 0.002, _THREE),
    Published("cifar10", "vaf-random", 0.875, 0.003, _THREE),
    Published("cifar10", "vaf-relu", 0.860, 0.002, _THREE),
    Published("mnist", "relu", 0.991, 0.001, _TWO),
    Published("mnist", "vaf-random", 0.994, 0.001, _TWO),
    Published("mnist", "vaf-relu", 0.993, 0.002, _TWO),
    Published("fashion_mnist", "relu", 0.923, 0.001, _TWO),
    Published("fashion_mnist", "vaf-random", 0.935, 0.002, _TWO),
    Published("fashion_mnist", "vaf-relu", 0.934, 0.001, _TWO),
)
"""Accuracies of `cnet_A`: mean and deviation of ten folds."""

PUBLISHED_B = (
    Published("cifar10", "relu", 0.707, None, _B),
    Published("cifar10", "vaf-random", 0.812, None, _B),
    Published("cifar10", "kaf", 0.802, None, _B),
    Published("cifar10", "nin", 0.763, None, _B),
    Published("mnist", "relu", 0.995, None, _B),
    Published("mnist", "vaf-random", 0.995, None, _B),
    Published("mnist", "kaf", 0.995, None, _B),
    Published("mnist", "nin", 0.996, None, _B),
    Published("fashion_mnist", "relu", 0.920, None, _B),
    Published("fashion_mnist", "vaf-random", 0.935, None, _B),
    Published("fashion_mnist", "kaf", 0.929, None, _B),
    Published("fashion_mnist", "nin", 0.925, None, _B),
)
"""Accuracies of `cnet_B` on the publishers' test images."""

CNET = Architecture(
    "cnet",
    {
        "kernel_size": 5,
        "padding": "same",
        "pool_size": 3,
        "pool_strides": 2,
        "dropout": 0.25,
        "kernel_initializer": "PortableGlorotUniform",
    },
)
"""The paper's convolutional networks; it does not specify padding and kernels."""

K = 5
"""Hidden units of a VAF."""

MAXOUT = Variant("maxout", "Maxout", "Maxout", {"k": 2})
NIN = Variant("nin", "NIN", "MLPConv")

_TEST_IMAGES = 10_000
_QUICK: dict[str, Any] = {"rows": 300, "epochs": 2, "patience": None, "batch_size": 32}


def protocols_a(dataset: Dataset, form: Form | None = None) -> list[Protocol]:
    """Return the protocols of `cnet_A`: ReLU, and VAFs with all starts.

    The paper specifies neither learning rate and momentum nor batch size and patience.
    `manner="paper"` is SGD at 0.01 with momentum 0.9, in batches of 128, with at most
    300 epochs and patience 30. `"ours"` is the best of three learning rates, with at
    most 100 epochs and patience 10.
    """
    form = form or Form()
    momentum = {"learning_rate": 0.01, "momentum": 0.9}
    fields = _fields(form, Optimizer("SGD", momentum), (0.003, 0.01, 0.03))
    fields["hidden"] = _THREE if dataset.name == "cifar10" else _TWO
    if form.quick:
        fields["folds"] = 2
    return [
        Protocol.of(dataset, variant.updated(k=K), architecture=CNET, **fields)
        for variant in ARMS
    ]


def protocols_b(dataset: Dataset, form: Form | None = None) -> list[Protocol]:
    """Return the protocols of `cnet_B`: what the paper compares, then other layers.

    The last 10,000 images are the publisher's test images; a tenth of the others is for
    validation. Adam has a learning rate of 0.001, or the best of three, and batches of
    128. The quick form leaves out the other layers unless it names activations.
    """
    form = form or Form()
    adam = Optimizer("Adam", {"learning_rate": 0.001})
    fields = _fields(form, adam, (0.0003, 0.001, 0.003)) | {
        "hidden": _B,
        "folds": 1,
        "test_rows": _TEST_IMAGES,
        "validation_fraction": 0.1,
    }
    arms = _arms_of_b()
    names = [each.variant for each in PUBLISHED_B]
    return [
        Protocol.of(dataset, variant, architecture=architecture, **fields)
        for variant, architecture in arms
        if not form.quick or form.activations or variant.name in names
    ]


def _fields(
    form: Form, optimizer: Optimizer, rates: tuple[float, ...]
) -> dict[str, Any]:
    """Return the fields that all protocols share."""
    fields: dict[str, Any] = {"optimizer": optimizer, "batch_size": 128}
    if form.manner == "paper":
        fields |= {"epochs": 300, "patience": 30}
    else:
        fields |= {"epochs": 100, "patience": 10, "rates": rates}
    if form.quick:
        fields |= {**_QUICK, "rates": ()}
    return fields


def _arms_of_b() -> list[tuple[Variant, Architecture]]:
    """Return the activations of `cnet_B` and their networks."""
    relu, vaf, rescaled, vaf_relu = (variant.updated(k=K) for variant in ARMS)
    others = {each.name: each.updated(k=K) for each in (*CONTROLS, *FAMILY)}
    kaf, prelu = others.pop("kaf"), others.pop("prelu")
    del others[rescaled.name]
    # As in the paper of PReLU, there is one slope for each channel.
    prelu = dataclasses.replace(prelu, arguments={"shared_axes": [1, 2]})
    kaf = dataclasses.replace(kaf, arguments={**kaf.arguments, "D": 20})
    plain = [relu, vaf, kaf, rescaled, vaf_relu, prelu, *others.values()]
    arms = [(variant, CNET) for variant in plain]
    arms.insert(3, (NIN, Architecture("nin", {**CNET.arguments, "depth": 3})))
    return [*arms, (MAXOUT, Architecture("cnet", {**CNET.arguments, "pieces": 2}))]


CONVOLUTIONS_A = Experiment(
    "convolution-a",
    "Convolutional networks A",
    DATASETS,
    protocols_a,
    partial(published_table, summary=by_dataset),
    with_rescaled(PUBLISHED_A),
    functions=True,
)
CONVOLUTIONS_B = Experiment(
    "convolution-b",
    "Convolutional networks B",
    DATASETS,
    protocols_b,
    partial(published_table, summary=by_dataset),
    with_rescaled(PUBLISHED_B),
)
