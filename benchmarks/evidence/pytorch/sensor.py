"""`SensorStudy`, trained networks that see images through another response curve."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.evidence.pytorch.sensor_network import (
    INPUT_METHODS,
    Network,
    adapted,
    histogram_map,
    trained_network,
)
from benchmarks.evidence.pytorch.torch_study import TorchStudy, copied, restore
from keras_vaf.datasets import load

SEEDS = range(10)
LABELS = (20, 80)
STEPS, EVERY = 150, 10
RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
SMALL_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
FEW_NUMBERS = 1_000
SOURCE, TEST = 30_000, 5_000

Curve = Callable[[np.ndarray], np.ndarray]

CURVES: dict[str, Curve] = {
    "inversion": lambda x: 0.7 - 0.4 * x,
    "gamma": lambda x: x**4,
    "negative": lambda x: (1 - x) ** 2,
    "root": lambda x: x**0.25,
    "saturation": lambda x: np.minimum(2 * x, 1),
    "solarization": lambda x: np.where(x < 0.6, x, 1.2 - x),
    "logarithm": lambda x: np.log1p(9 * x) / np.log(10),
}
"""Response curves; the first three belong to the registered comparison."""


class SensorStudy(TorchStudy):
    """Some methods on every curve, with few labels, for every seed.

    Args:
        methods: Keys of `METHODS`.
        labels: Numbers of labels.
    """

    def __init__(self, methods: Sequence[str], labels: Sequence[int] = LABELS) -> None:
        self.methods, self.labels = methods, labels

    def keys(self, records: Any = None) -> Iterator[tuple[int, int, str, str]]:
        """Yield seed, labels, curve and method, those of the comparison first."""
        names = list(CURVES)
        for curves, labels in ((names[:3], 80), (names[3:], 80), (names, 20)):
            if labels not in self.labels:
                continue
            for seed, curve in itertools.product(SEEDS, curves):
                yield from ((seed, labels, curve, each) for each in self.methods)

    def train(self, key: tuple[Any, ...], folder: Path) -> dict[str, Any]:
        """Return the record of an adaptation."""
        path = folder / "sensor_networks" / f"{key[0]}.pt"
        return adapt(source_network(key[0], path), images(), *key)


@functools.cache
def images() -> tuple[np.ndarray, np.ndarray]:
    """Return all images of Fashion-MNIST and their classes."""
    data = load("fashion_mnist")
    x = np.moveaxis(data.x, -1, 1) / max(1.0, data.x.max())
    return x.astype("float32"), data.y


@functools.lru_cache(maxsize=1)
def source_network(seed: int, path: Path) -> Network:
    """Return the network of a seed, which is trained if there is no file of it.

    Args:
        seed: Seed of the training.
        path: File of the network.
    """
    x, y = images()
    return trained_network(x[:SOURCE], y[:SOURCE], seed, path)


def adapt(
    source: Any, data: Any, seed: int, labels: int, curve: str, method: str
) -> dict[str, Any]:
    """Adapt a network to images of another sensor, and test it.

    Args:
        source: The trained network.
        data: All images and classes.
        seed: Seed of the labelled images.
        labels: Number of labelled images; a quarter of them is for validation.
        curve: Key of `CURVES`.
        method: Key of `METHODS`.
    """
    x, y = data
    rng = np.random.default_rng([seed, labels])
    chosen = SOURCE + rng.permutation(60_000 - SOURCE)[:labels]
    seen = CURVES[curve](x[chosen]).astype("float32")
    tested = CURVES[curve](x[-TEST:]).astype("float32")
    parts = torch.tensor(seen), torch.tensor(y[chosen])
    training = tuple(part[labels // 4 :] for part in parts)
    validation = tuple(part[: labels // 4] for part in parts)
    points = histogram_map(seen, x[:1000])
    best: dict[str, Any] = {"rank": (-1.0, 0.0)}
    torch.manual_seed(seed)
    tried = rates(adapted(source, method, points))
    flips = (False, True) if method in INPUT_METHODS else (False,)
    for rate, flip in itertools.product(tried, flips):
        network = adapted(source, method, points, flip)
        found = fit(network, training, validation, rate)
        if found["rank"] > best["rank"]:
            best = {**found, "rate": rate, "flip": flip}
    network = adapted(source, method, points, best["flip"])
    restore(network, best["state"])
    accuracy, _ = scores(network, (torch.tensor(tested), torch.tensor(y[-TEST:])))
    keys = {"seed": seed, "labels": labels, "curve": curve, "method": method}
    chosen_try = {name: best[name] for name in ("rate", "step", "flip")}
    results = {"accuracy": accuracy, "validation": best["rank"][0]}
    return {**keys, **chosen_try, **results, "numbers": count(network)}


def rates(network: nn.Module) -> tuple[float, ...]:
    """Return the learning rates to try: larger ones where few numbers are trained."""
    if count(network) == 0:
        return (0.0,)
    return RATES if count(network) <= FEW_NUMBERS else SMALL_RATES


def count(network: nn.Module) -> int:
    """Return how many numbers of a network are trained."""
    return sum(each.numel() for each in network.parameters() if each.requires_grad)


def fit(network: nn.Module, training: Any, validation: Any, rate: float) -> Any:
    """Train on the full batch and return the state of the best step on validation."""
    best: dict[str, Any] = {"rank": (-1.0, 0.0)}
    trained = [each for each in network.parameters() if each.requires_grad]
    optimizer = torch.optim.Adam(trained, rate) if trained else None
    for step in range(STEPS + 1 if trained else 1):
        if step % EVERY == 0:
            accuracy, loss = scores(network, validation)
            if (accuracy, -loss) > best["rank"]:
                state = copied(network)
                best = {"rank": (accuracy, -loss), "state": state, "step": step}
        if optimizer is not None:
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(training[0]), training[1]).backward()
            optimizer.step()
    return best


def scores(network: nn.Module, data: Any) -> tuple[float, float]:
    """Return accuracy and loss of a network."""
    with torch.no_grad():
        outputs = network(data[0])
        loss = nn.functional.cross_entropy(outputs, data[1])
        accuracy = (outputs.argmax(1) == data[1]).float().mean()
    return round(float(accuracy), 6), float(torch.nan_to_num(loss, 1e9))
