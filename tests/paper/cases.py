"""The trainings whose numbers were recorded from the version at commit 551fad3."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from keras_vaf.datasets import Dataset, load
from keras_vaf.paper import parts
from keras_vaf.paper.sensorless import sensorless

FOLDER = Path(__file__).parent
SHORT = {"epochs": 6, "folds": 3}
TINY = {"hidden": (3, 3), "epochs": 2, "batch_size": 30}
SENSORLESS = (
    *("novaf-tanh", "vaf-tanh-random-neuron-5"),
    *("vaf-relu-specific-layer-5", "vaf-relu-rescaled-layer-5"),
)


def motors() -> Dataset:
    """Return 110 rows of eleven classes."""
    x = np.random.default_rng(0).normal(size=(110, 4)).astype("float32")
    names = tuple(map(str, range(11)))
    y = np.arange(110) % 11
    return Dataset("sensorless", "classification", x, y, tuple("abcd"), names)


def images() -> Dataset:
    """Return 90 small images of three classes."""
    y = np.arange(90) % 3
    x = np.random.default_rng(2).normal(size=(90, 8, 8, 1))
    x += (np.arange(8) // 3 == y[:, None])[:, None, :, None]
    names = ("left", "middle", "right")
    x = (40 * x + 100).astype("float32")
    return Dataset("mnist", "classification", x, y, class_names=names)


def _table(name, *architectures, **settings):
    dataset = load(name)
    part = parts.fully_connected(dataset, quick=False)[0]
    return dataset, [_with(part, hidden=each, **settings) for each in architectures]


def _with(part, **settings):
    return part._replace(recipe=replace(part.recipe, **settings))


def _large(monkeypatch):
    monkeypatch.setattr(parts, "LARGE", 100)
    dataset, [part] = _table("servo", (4,), epochs=3, folds=2)
    return dataset, [part._replace(arms=part.arms[:2])]


def _sensorless(_):
    part = _with(sensorless(motors(), quick=True)[0], epochs=3, folds=2)
    arms = tuple(arm for arm in part.arms if arm.name in SENSORLESS)
    return motors(), [part._replace(arms=arms)]


def _images(place, **settings):
    part = _with(parts.convolution(images(), quick=False)[place], **TINY, **settings)
    narrow = parts.network_in_network(3)
    arms = [narrow if arm.name == "nin" else arm for arm in part.arms]
    kept = "relu", "vaf-random", "kaf", "nin"
    arms = tuple(arm for arm in arms if arm.name in kept)
    return images(), [part._replace(arms=arms)]


# Each returns data and parts; the argument is pytest's monkeypatch.
CASES = {
    "servo": lambda _: _table("servo", (4,), (3, 2), **SHORT),
    "yacht": lambda _: _table("yacht", (4,), **SHORT),
    "wine": lambda _: _table("wine", (4,), (3, 2), **SHORT),
    "large": _large,
    "sensorless": _sensorless,
    "cnet_A": lambda _: _images(0, folds=2),
    "cnet_B": lambda _: _images(1, test_size=30),
}
