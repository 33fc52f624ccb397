"""`fit_network`, which trains the network of an estimator with sample weights."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.ops.functions import get_function
from keras_vaf.training import History, recipe, split
from keras_vaf.training.data import fill_up
from keras_vaf.training.losses import loss_of
from keras_vaf.training.network_trainer import NetworkTrainer
from keras_vaf.training.runs import NetworkRun

_FEWEST_ROWS = 10  # fewer rows are not split
_ROWS_AT_ONCE = 4096
_SIZES_ON_JAX = (64, 512, _ROWS_AT_ONCE)
_MOST_TRAINERS = 16
_TRAINERS: dict[Any, NetworkTrainer] = {}


class Settings(NamedTuple):
    """The training options of an estimator, which `VAFClassifier` describes."""

    learning_rate: float
    epochs: int
    batch_size: int | None
    validation_fraction: float | None
    patience: int | None
    seed: int


class Architecture(NamedTuple):
    """All settings on which the compiled training of a network depends.

    Args:
        inputs: Number of inputs.
        outputs: Number of outputs.
        hidden: Widths of the hidden layers.
        k: As in `VAFActivation`.
        g: As in `VAFActivation`.
        sharing: As in `VAFActivation`.
        classes: Whether the network is a classifier.
        activation: `"vaf"`, or the name of a fixed activation.
    """

    inputs: int
    outputs: int
    hidden: tuple[int, ...]
    k: int
    g: Any
    sharing: Any
    classes: bool
    activation: Any = "vaf"

    def build(self, initialization: Any, seed: int) -> keras.Sequential:
        """Return a network with a VAF or fixed activation after each hidden layer.

        Args:
            initialization: As in `VAFActivation`.
            seed: Seed of the kernels and of random starts.
        """
        seeds = iter(range(seed, seed + len(self.hidden)))

        def activation() -> keras.layers.Layer:
            if self.activation != "vaf":
                function = get_function(self.activation, "activation", others=("vaf",))
                return keras.layers.Activation(function)
            start = initialization
            if isinstance(start, str) and start == "random":
                start = RandomStart(seed=next(seeds))
            return VAFActivation(self.k, self.g, self.sharing, start)

        return mlp(self.inputs, self.hidden, self.outputs, activation, seed=seed)


def fit_network(
    network: keras.Sequential,
    architecture: Architecture,
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    settings: Settings,
) -> History:
    """Train a network and set it to the weights of its best epoch.

    Args:
        network: The network.
        architecture: Its architecture.
        x: Inputs, float32.
        y: Class indices of shape `(rows,)`, or targets, which may have several columns.
        weights: Weight of each row.
        settings: The training options.
    """
    # The weights pass through the training loop as part of the targets.
    weights = weights * (len(weights) / weights.sum())
    data = x, np.column_stack([y, weights]).astype("float32")
    rows = validation = np.arange(len(x))
    fraction, seed = settings.validation_fraction, settings.seed
    if fraction is not None and len(x) >= _FEWEST_ROWS:
        rows, validation = _divided(y, fraction, seed, architecture.classes)
    size = settings.batch_size
    size = None if size is None or size >= len(rows) else size
    with _lent_trainer(architecture, size, settings.patience) as trainer:
        trainer.prepare(data)
        start = trainer.start(network.get_weights(), seed, settings.learning_rate)
        run = NetworkRun(start, rows, validation, seed)
        [trained] = trainer.train(data, [run], settings.epochs)
    network.set_weights(trained.weights)
    return trained.history


@contextlib.contextmanager
def _lent_trainer(
    architecture: Architecture, batch_size: int | None, patience: int | None
) -> Iterator[NetworkTrainer]:
    """Lend a trainer to one thread at a time, so that fits reuse compiled code."""
    policy = keras.config.floatx(), keras.config.dtype_policy().name
    key = architecture, batch_size, patience, policy
    trainer = _TRAINERS.pop(key, None)
    if trainer is None:
        model = architecture.build("g", seed=0)
        model.compile(
            recipe.OPTIMIZER,
            _weighted(loss_of(architecture.classes, reduction=None)),
        )
        trainer = NetworkTrainer(model, batch_size, patience, pad=True)
    yield trainer
    _TRAINERS[key] = trainer
    if len(_TRAINERS) > _MOST_TRAINERS:
        _TRAINERS.pop(next(iter(_TRAINERS)), None)


def outputs_of(network: keras.Sequential, x: np.ndarray) -> np.ndarray:
    """Return the outputs of a network as float64.

    Args:
        network: The network.
        x: Inputs, float32.
    """
    # JAX compiles each operation for each number of rows.
    sizes = _SIZES_ON_JAX if keras.backend.backend() == "jax" else ()
    parts = []
    for start in range(0, len(x), _ROWS_AT_ONCE):
        rows = x[start : start + _ROWS_AT_ONCE]
        outputs = network(fill_up(rows, sizes), training=False)
        parts.append(ops.convert_to_numpy(outputs)[: len(rows)])
    return np.concatenate(parts).astype(np.float64)


def _divided(
    y: np.ndarray, fraction: float, seed: int, classes: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return training and validation rows, stratified by class if there are enough."""
    try:
        return split(y, fraction, seed, stratify=classes)
    except ValueError:
        return split(y, fraction, seed, stratify=False)


def _weighted(loss: keras.Loss) -> Callable[[Any, Any], Any]:
    """Return a loss whose targets are followed by the weights of the rows."""
    return lambda y, outputs: y[:, -1] * loss(y[:, :-1], outputs)
