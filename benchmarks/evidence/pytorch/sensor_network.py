"""The network of the study of changed sensors, and the ways to adapt it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import atomic_path

EPOCHS, BATCH, RATE = 5, 128, 0.001
HIDDEN_UNITS = 7


class Network(nn.Module):
    """Two convolutions with normalization and two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.front: nn.Module = nn.Identity()
        self.flip = False
        self.first = nn.Conv2d(1, 16, 5, stride=2, padding=2)
        self.first_normalization = nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.second_normalization = nn.BatchNorm2d(32)
        self.third: nn.Module = nn.Linear(32 * 7 * 7, 64)
        self.head: nn.Module = nn.Linear(64, 10)
        self.activations = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.ReLU()])

    def forward(self, x: Any) -> Any:
        """Return the logits of images."""
        first, second, third = self.activations
        x = 1 - x if self.flip else x
        x = first(self.first_normalization(self.first(self.front(x))))
        x = second(self.second_normalization(self.second(x)))
        return self.head(third(self.third(x.flatten(1))))


class Affine(nn.Module):
    """One scale and one shift, which start as the identity."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, x: Any) -> Any:
        """Return the scaled and shifted values."""
        return self.scale * x + self.shift


class Power(Affine):
    """A power of positive values, scaled and shifted; starts as the identity.

    Args:
        affine: Whether scale and shift are trained as well.
    """

    def __init__(self, affine: bool) -> None:
        super().__init__()
        self.requires_grad_(affine)
        self.log_power = nn.Parameter(torch.zeros(()))

    def forward(self, x: Any) -> Any:
        """Return the scaled and shifted powers."""
        return super().forward(x.clamp_min(0) ** self.log_power.exp())


class Table(nn.Module):
    """A piecewise linear function through points."""

    def __init__(self, points: Any) -> None:
        super().__init__()
        self.points = points

    def forward(self, x: Any) -> Any:
        """Return the values of the function."""
        return torch.tensor(np.interp(x.numpy(), *self.points).astype("float32"))


class LowRank(nn.Module):
    """A dense layer with a trained correction of rank 1, which starts at zero."""

    def __init__(self, dense: Any) -> None:
        super().__init__()
        self.dense = dense
        inputs, outputs = dense.in_features, dense.out_features
        self.down = nn.Parameter(torch.randn(inputs, 1) / inputs**0.5)
        self.up = nn.Parameter(torch.zeros(1, outputs))

    def forward(self, x: Any) -> Any:
        """Return the outputs of the layer with the correction."""
        return self.dense(x) + x @ self.down @ self.up


def trained_network(x: Any, y: Any, seed: int, path: Path) -> Network:
    """Return the network of a seed, trained on the images of the old sensor.

    Args:
        x: Images.
        y: Classes.
        seed: Seed of weights and batches.
        path: File with the weights, which is written if it is missing.
    """
    torch.manual_seed(seed)
    network = Network()
    if path.exists():
        network.load_state_dict(torch.load(path))
        return network.eval()
    images, classes = torch.tensor(x), torch.tensor(y)
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    steps = EPOCHS * (len(x) // BATCH)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x))[: len(x) // BATCH * BATCH].split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images[rows]), classes[rows]).backward()
            optimizer.step()
            decay.step()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        torch.save(network.state_dict(), temporary)
    return network.eval()


def histogram_map(seen: np.ndarray, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points of the increasing map between the quantiles of two sets of images.

    Args:
        seen: Images of the new sensor.
        old: Images of the old one.
    """
    shares = np.linspace(0, 1, 101)
    points, first = np.unique(np.quantile(seen, shares), return_index=True)
    return points, np.quantile(old, shares)[first]


def adapted(source: Network, method: str, points: Any, flip: bool = False) -> Network:
    """Return a copy of a network in which only the numbers of a method are trained.

    Args:
        source: The trained network.
        method: Key of `METHODS`.
        points: Result of `histogram_map`.
        flip: Whether to invert the images first. Functions of the input are tried with
            both, because a scale that is trained hardly changes its sign.
    """
    network = copy.deepcopy(source).eval()
    network.requires_grad_(method == "everything")
    METHODS[method](network, points)
    network.flip = flip
    return network


def _front(layer: Callable[[Any], nn.Module]) -> Callable[[Network, Any], None]:
    def change(network: Network, points: Any) -> None:
        network.front = layer(points)
        network.front(torch.zeros(1, 1, 28, 28))

    return change


def _vaf(k: int, start: Any = "linear") -> Any:
    return VAFActivation(k=k, initialization=start)


def _histogram_start(points: Any) -> Any:
    """Return a VAF that starts near the map between histograms."""
    inputs, outputs = points
    knots = np.linspace(inputs[0], inputs[-1], HIDDEN_UNITS - 1)
    values = np.interp(knots, inputs, outputs)
    slopes = np.diff(values) / np.diff(knots)
    slopes = [slopes[0], *slopes, slopes[-1]]
    return _vaf(HIDDEN_UNITS, PiecewiseLinearStart(knots, slopes, values[0]))


def _layers(network: Network, points: Any) -> None:
    network.activations = nn.ModuleList([_vaf(3, "relu") for _ in range(3)])
    network(torch.zeros(1, 1, 28, 28))


def _low_rank(network: Network, points: Any) -> None:
    network.third, network.head = LowRank(network.third), LowRank(network.head)


def _named(*ends: str) -> Callable[[Network, Any], None]:
    def change(network: Network, points: Any) -> None:
        for name, parameter in network.named_parameters():
            parameter.requires_grad_(any(end in name for end in ends))

    return change


CONTROLS = ("power", "power-affine")
"""Methods that were added after the answer; they are exploratory."""

INPUT_METHODS = ("affine", "vaf-3", "vaf-7", *CONTROLS)
"""Methods that train a function of the input from the identity."""

METHODS: dict[str, Callable[[Network, Any], None]] = {
    "nothing": lambda network, points: None,
    "affine": _front(lambda points: Affine()),
    "vaf-3": _front(lambda points: _vaf(3)),
    "vaf-7": _front(lambda points: _vaf(HIDDEN_UNITS)),
    "vaf-layers": _layers,
    "biases": _named("first.bias", "second.bias", "third.bias", "head.bias"),
    "normalization": _named("normalization"),
    "first layer": _named("first.weight", "first.bias"),
    "head": _named("head"),
    "lora": _low_rank,
    "everything": lambda network, points: None,
    "histogram": _front(Table),
    "vaf-histogram": _front(_histogram_start),
    "power": _front(lambda points: Power(affine=False)),
    "power-affine": _front(lambda points: Power(affine=True)),
}
"""The ways to adapt a network. Each prepares a frozen copy of it."""

REGISTERED = tuple(each for each in METHODS if each not in CONTROLS)
