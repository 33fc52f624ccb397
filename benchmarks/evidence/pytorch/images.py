"""`ImageStudy`, the paper's convolutional networks on images."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import torch
from torch import nn

from benchmarks.evidence.pytorch.convolution import convolve
from benchmarks.evidence.pytorch.torch_study import Checkpoint, TorchStudy
from benchmarks.evidence.records import Records
from keras_vaf.datasets import load
from keras_vaf.layers import VAFActivation
from keras_vaf.models import cnet

DATASETS = ("cifar10", "fashion_mnist")
ARMS: dict[str, Any] = {
    "relu": keras.layers.ReLU,
    "vaf-relu": lambda: VAFActivation(k=3, g="relu", initialization="relu"),
    "silu": lambda: keras.layers.Activation("silu"),
    "vaf-silu": lambda: VAFActivation(k=3, g="silu", initialization="silu"),
    "vaf-random": lambda: VAFActivation(k=5, g="relu", initialization="random"),
    "relu-1.5": lambda: keras.layers.Activation(lambda x: 1.5 * keras.ops.relu(x)),
}
RATES = (0.0003, 0.001)
FIRST = 0  # seed that selects the learning rate
TEST, EPOCHS, BATCH = 10_000, 30, 128
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # as Keras chooses it


@dataclasses.dataclass(frozen=True)
class Form:
    """A form of the experiment.

    Args:
        name: Its name in the files of unfinished trainings.
        filters: Number of filters of each convolution.
        images: Number of training images; one in ten is for validation.
        seeds: Number of seeds.
    """

    name: str
    filters: tuple[int, ...]
    images: int
    seeds: int = 3


REDUCED = Form("", (150, 150), 10_000)
CNET_A = Form("cnet_A_", (192, 192, 192), 10_000)
ALL_IMAGES = Form("all_", (150, 150), 50_000)

REGISTERED = tuple((DATASETS[0], arm) for arm in ("relu", "vaf-relu"))
"""The arms of C."""

OF_ALL_IMAGES = (*REGISTERED, (DATASETS[0], "vaf-random"))
"""The arms of C2 and C3."""

EXPLORATORY = tuple(
    pair
    for pair in itertools.product(DATASETS, ARMS)
    if pair not in REGISTERED and pair != (DATASETS[1], "relu-1.5")
)

ON_CIFAR = tuple((DATASETS[0], arm) for arm in ARMS)


class ImageStudy(TorchStudy):
    """All learning rates on the first seed, and the selected one on the further seeds.

    Args:
        pairs: A dataset and a key of `ARMS` each.
        form: Network and number of images.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], form: Form = REDUCED) -> None:
        self.pairs, self.form = pairs, form

    def keys(self, records: Records | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield dataset, arm, learning rate and seed."""
        for pair in self.pairs:
            yield from ((*pair, rate, FIRST) for rate in RATES)
            for seed in range(FIRST + 1, self.form.seeds):
                rate = RATES[0] if records is None else selected(records, *pair)
                yield *pair, rate, seed

    def train(self, key: tuple[Any, ...], folder: Path) -> dict[str, Any]:
        """Return the record of a training."""
        return train(*key, self.checkpoint(key, folder), self.form)

    def checkpoint(self, key: tuple[Any, ...], folder: Path) -> Path:
        """Return the file of the state of an unfinished training."""
        return super().checkpoint((self.form.name + key[0], *key[1:]), folder)


def selected(records: Records, dataset: str, arm: str) -> float:
    """Return the learning rate with the best validation accuracy on the first seed.

    Of equal ones, the one with the lower validation loss is returned.
    """
    found = {rate: records.read(dataset, arm, rate, FIRST) for rate in RATES}
    ranks = {rate: each["validation"] for rate, each in found.items() if each}
    return max(ranks, key=lambda rate: (ranks[rate][0], -ranks[rate][1]))


def train(
    dataset: str,
    arm: str,
    rate: float,
    seed: int,
    checkpoint: Path,
    form: Form = REDUCED,
) -> dict[str, Any]:
    """Train a network, from its checkpoint if there is one, and test it.

    Args:
        dataset: Name of the dataset.
        arm: Key of `ARMS`.
        rate: Learning rate of the first step.
        seed: Seed of the rows, weights and batches.
        checkpoint: File of the state after every epoch.
        form: Network and number of images.
    """
    x, y = images_of(dataset)
    order = np.random.default_rng(seed).permutation(len(x) - TEST)
    training = form.images * 9 // 10
    own, held_out = np.split(order[: form.images], [training])
    keras.utils.set_random_seed(seed)
    network = create(arm, (x.shape[-1], *x.shape[1:-1]), seed, form.filters)
    optimizer = torch.optim.Adam(network.parameters(), rate)
    steps = EPOCHS * -(-training // BATCH)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)
    key = dataset, arm, rate, seed
    stored = Checkpoint(checkpoint, key, network, optimizer, decay)
    first = stored.load({"epoch": 0})["epoch"]
    for epoch in range(first, EPOCHS):
        rows = np.random.default_rng([seed, epoch]).permutation(own)
        for part in np.split(rows, range(BATCH, training, BATCH)):
            optimizer.zero_grad()
            logits = network(batch(x, part), training=True)
            nn.functional.cross_entropy(logits, y[part]).backward()
            optimizer.step()
            decay.step()
        stored.save({"epoch": epoch + 1})
    tested = np.arange(len(x) - TEST, len(x))
    record = dict(zip(("dataset", "arm", "rate", "seed"), key, strict=True))
    record["validation"] = scores(network, x, y, held_out)
    record["test"] = scores(network, x, y, tested)
    record["device"] = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    return record


def images_of(dataset: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return standardized images, with their channels last, and their classes."""
    images = load(dataset)
    x = images.x / max(1.0, images.x.max())
    x = (x - x.mean(axis=(0, 1, 2))) / x.std(axis=(0, 1, 2))
    return torch.tensor(x).to(DEVICE), torch.tensor(images.y).to(DEVICE)


def create(
    arm: str,
    shape: Sequence[int],
    seed: int,
    filters: Sequence[int] = REDUCED.filters,
) -> keras.Sequential:
    """Return an untrained network that computes `cnet` faster, up to rounding.

    Its layers take the channels first, as Keras's other layout copies the input of
    every pooling, and the gradients of its poolings have the layout of their inputs.
    On a processor, its later convolutions are `convolve`. Names of layers begin at
    their first number, because Keras sorts the parameters, which are in the checkpoint,
    by name.
    """
    keras.utils.clear_session(free_memory=False)
    layout = keras.config.image_data_format()
    keras.config.set_image_data_format("channels_first")
    try:
        network = cnet(shape, filters, 10, ARMS[arm], seed=seed)
    finally:
        keras.config.set_image_data_format(layout)
    kinds = (each for each in network.layers if isinstance(each, keras.layers.Conv2D))
    for later in list(kinds)[1:] if DEVICE == "cpu" else ():
        later.convolution_op = convolve
    for each in network.layers:
        if isinstance(each, keras.layers.MaxPooling2D):
            each.register_forward_hook(keep_layout)
    return network


def keep_layout(layer: Any, given: Any, pooled: torch.Tensor) -> None:
    """Put the channels of a pooling's gradient last in memory.

    Otherwise PyTorch copies the gradient of its input twice, a sixth of a step.
    """
    if pooled.requires_grad:
        pooled.register_hook(lambda x: x.contiguous(memory_format=torch.channels_last))


def batch(x: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
    """Return some images with their channels first, without a copy for the layout."""
    return x[rows].permute(0, 3, 1, 2)


def scores(network: Any, x: torch.Tensor, y: torch.Tensor, rows: np.ndarray) -> Any:
    """Return accuracy and loss on some rows."""
    right, loss = 0, 0.0
    with torch.no_grad():
        for part in np.array_split(rows, len(rows) // 500):
            logits, classes = network(batch(x, part)), y[part]
            loss += float(nn.functional.cross_entropy(logits, classes, reduction="sum"))
            right += int((logits.argmax(1) == classes).sum())
    return right / len(rows), loss / len(rows)
