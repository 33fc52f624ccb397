"""The network of an estimator, and its training with sample weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import History, split, train

_FEWEST_ROWS = 10  # fewer rows are not divided
_ROWS_AT_ONCE = 4096


class Settings(NamedTuple):
    """The training options of an estimator; `VAFClassifier` describes them."""

    learning_rate: float
    epochs: int
    batch_size: int | None
    validation_fraction: float | None
    patience: int | None
    seed: int


def build_network(
    inputs: int,
    outputs: int,
    hidden: tuple[int, ...],
    seed: int,
    initialization: Any,
    **vaf: Any,
) -> keras.Sequential:
    """Return a network with a VAF after each hidden layer.

    Args:
        inputs: Number of inputs.
        outputs: Number of outputs.
        hidden: Widths of the hidden layers.
        seed: Seed of the kernels, and of random starts.
        initialization: As in `VAFActivation`.
        **vaf: Other arguments of `VAFActivation`.
    """
    seeds = iter(range(seed, seed + len(hidden)))

    def activation() -> VAFActivation:
        start = initialization
        if isinstance(start, str) and start == "random":
            start = RandomStart(seed=next(seeds))
        return VAFActivation(initialization=start, **vaf)

    return mlp(inputs, hidden, outputs, activation, seed=seed)


def fit_network(
    network: keras.Sequential,
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    classes: bool,
    settings: Settings,
) -> History:
    """Train a network, and leave it with the weights of its best epoch.

    Args:
        network: The network.
        x: Inputs, float32.
        y: Numbers of classes, or targets.
        weights: Weight of each row.
        classes: Whether the network classifies.
        settings: The training options.
    """
    # The targets carry the weights through the training loop.
    weights = weights * (len(weights) / weights.sum())
    data = np.stack([y, weights], axis=1).astype("float32")
    rows = validation = np.arange(len(x))
    fraction = settings.validation_fraction
    if fraction is not None and len(x) >= _FEWEST_ROWS:
        rows, validation = _divided(y, fraction, settings.seed, classes)
    loss = _weighted_cross_entropy if classes else _weighted_square
    network.compile(keras.optimizers.Adam(settings.learning_rate), loss)
    size = settings.batch_size
    return train(
        network,
        x[rows],
        data[rows],
        (x[validation], data[validation]),
        epochs=settings.epochs,
        batch_size=None if size is None or size >= len(rows) else size,
        patience=settings.patience,
        seed=settings.seed,
    )


def outputs_of(network: keras.Sequential, x: np.ndarray) -> np.ndarray:
    """Return the outputs of a network as float64.

    Args:
        network: The network.
        x: Inputs, float32.
    """
    parts = [
        ops.convert_to_numpy(network(x[start : start + _ROWS_AT_ONCE], training=False))
        for start in range(0, len(x), _ROWS_AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.float64)


def _divided(
    y: np.ndarray, fraction: float, seed: int, classes: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return training and validation rows, of each class if there are enough."""
    try:
        return split(y, fraction, seed, stratify=classes)
    except ValueError:
        return split(y, fraction, seed, stratify=False)


def _weighted_square(y: Any, outputs: Any) -> Any:
    return y[:, 1] * ops.square(outputs[:, 0] - y[:, 0])


def _weighted_cross_entropy(y: Any, outputs: Any) -> Any:
    labels = ops.cast(y[:, 0], "int32")
    loss = keras.losses.sparse_categorical_crossentropy(
        labels, outputs, from_logits=True
    )
    return y[:, 1] * loss
