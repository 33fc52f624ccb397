"""`FAMILIES`, the eight families of networks of R1, and their data."""

import dataclasses
import hashlib
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers

from benchmarks.speed.networks import blocks, resnet
from keras_vaf.datasets import CATALOGUE, Preprocessing, load
from keras_vaf.training import fold_rows

REGRESSIONS = [each.name for each in CATALOGUE if each.task == "regression"]


class Places(layers.Layer):
    """Adds a trained vector to each place of a sequence."""

    def build(self, shape: Any) -> None:
        self.vectors = self.add_weight(shape=shape[1:], initializer="random_normal")

    def call(self, x: Any) -> Any:
        return x + self.vectors


def dense(*widths: int) -> Callable[[Any, str], Any]:
    def build(x: Any, g: str) -> Any:
        x = layers.Flatten()(x)
        for width in widths:
            x = layers.Dense(width, activation=g)(x)
        return x

    return build


def mobile(x: Any, g: str) -> Any:
    """Blocks of MobileNetV3 without gates, and twelve activations."""
    options: dict[str, Any] = {"padding": "same", "use_bias": False}

    def normal(x: Any, layer: Any) -> Any:
        return layers.BatchNormalization()(layer(x))

    x = normal(x, layers.Conv2D(16, 3, 2, **options))
    x = layers.Activation(g)(x)
    for n, stride in ((16, 1), (16, 1), (24, 2), (24, 1), (24, 1)):
        y = normal(x, layers.Conv2D(3 * x.shape[-1], 1, **options))
        y = layers.Activation(g)(y)
        y = normal(y, layers.DepthwiseConv2D(3, stride, **options))
        y = normal(layers.Activation(g)(y), layers.Conv2D(n, 1, **options))
        x = y if stride > 1 else layers.add([x, y])
    x = layers.Activation(g)(normal(x, layers.Conv2D(96, 1, **options)))
    return layers.GlobalAveragePooling2D()(x)


def vision(x: Any, g: str) -> Any:
    x = Places()(layers.Reshape((9, 48))(layers.Conv2D(48, 4, 4)(x)))
    x = layers.LayerNormalization()(blocks(x, g, blocks=6, heads=4))
    return layers.GlobalAveragePooling1D()(x)


def language(x: Any, g: str) -> Any:
    x = Places()(layers.Embedding(256, 64)(x))
    x = blocks(x, g, blocks=2, heads=4, use_causal_mask=True)
    return layers.LayerNormalization()(x)


def texts(rows: int, random: np.random.Generator) -> Iterator[Any]:
    """Yield bytes of Python's standard library and those that follow, as L1 does."""
    folder = Path(sysconfig.get_path("stdlib"))
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.py")]
    out = {"site-packages", "test", "tests"}
    names = [name for name in names if not out & {*name.split("/")}]
    names.sort(key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    tenth = len(names) // 10
    for part, count in ((names[2 * tenth :], rows), (names[tenth : 2 * tenth], 1500)):
        stream = b"".join((folder / name).read_bytes() for name in part)
        text, last = np.frombuffer(stream, np.uint8), len(stream) - 65
        even = np.linspace(0, last, count).astype(int)
        starts = random.integers(last, size=count) if count == rows else even
        yield from (text[starts[:, None] + np.arange(64) + i] for i in (0, 1))


class Family(NamedTuple):
    """Activation, its usual hard form or "", network, data, and training with Adam."""

    g: str
    hard: str
    build: Callable[[Any, str], Any]
    datasets: list[str]
    rows: int  # for training; of a table four fifths
    steps: int
    batch: int
    rate: float

    def network(self, dataset: str, shape: tuple[int, ...]) -> keras.Model:
        inputs = keras.Input(shape)
        outputs = {"text": 256}.get(dataset, 1 if dataset in REGRESSIONS else 10)
        return keras.Model(inputs, layers.Dense(outputs)(self.build(inputs, self.g)))

    def data(self, dataset: str, seed: int) -> list[Any]:
        """Return inputs and targets for training, and for the test."""
        random = np.random.default_rng(seed)
        if dataset == "text":
            return [*texts(self.rows, random)]
        found = load(dataset)
        scaling: Any = "standard"
        if dataset in REGRESSIONS:
            *parts, test = fold_rows(found.y, 5, seed, stratify=False)[0]
            rows = np.concatenate(parts)
        else:
            x = found.x.reshape(-1, 14, 2, 14, 2, 1).mean((2, 4), dtype="float32")
            found, scaling = dataclasses.replace(found, x=x), "none"
            test = np.arange(60_000, 70_000)
            rows = random.permutation(60_000)[: self.rows]
        fitted = Preprocessing(scaling).fit(found, rows)
        return [*fitted.transform(found, rows), *fitted.transform(found, test)]


FASHION, DIGITS = ["fashion_mnist"], ["mnist"]
FAMILIES = {
    "MLP, SiLU": Family(
        "silu", "hard_silu", dense(100, 50), REGRESSIONS, 0, 3000, 64, 0.003
    ),
    "ResNet, SiLU": Family("silu", "hard_silu", resnet, FASHION, 6000, 750, 64, 0.003),
    "ResNet, GELU": Family("gelu", "hard_silu", resnet, FASHION, 6000, 750, 64, 0.003),
    "MobileNet, hard-swish": Family(
        "hard_silu", "", mobile, FASHION, 6000, 1000, 64, 0.003
    ),
    "ViT, GELU": Family("gelu", "hard_silu", vision, FASHION, 12000, 1500, 64, 0.001),
    "transformer, GELU": Family(
        "gelu", "hard_silu", language, ["text"], 32000, 4000, 8, 0.004
    ),
    "MLP, tanh": Family(
        "tanh", "hard_tanh", dense(128, 128, 128), DIGITS, 12000, 2500, 64, 0.001
    ),
    "MLP, ELU": Family("elu", "", dense(128, 128, 128), DIGITS, 12000, 2500, 64, 0.001),
}
