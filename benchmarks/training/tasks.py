"""The tasks that are timed, and the aims that compare their numbers."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Aim:
    """One line of the table.

    Args:
        what: What is measured.
        limit: The value to reach.
        at_least: Whether more is better.
        tasks: Names of the tasks, each with its backend.
        value: What the tasks' numbers make.
    """

    what: str
    limit: float
    at_least: bool
    tasks: tuple[tuple[str, str], ...]
    value: Callable[..., float]


def _second_over_first(ours: float, theirs: float) -> float:
    return theirs / ours


def _difference(predicted_over_measured: float) -> float:
    return abs(predicted_over_measured - 1)


AIMS = (
    Aim(
        "100 networks 13-100-50-3, 142 rows, full batch: speed, batched on JAX over "
        "`fit` on TensorFlow",
        40,
        True,
        (("wine_batched", "jax"), ("wine_fit", "tensorflow")),
        _second_over_first,
    ),
    Aim(
        "16 networks 12-100-50-1, 8,192 rows, batches of 128: speed, batched on JAX "
        "over `fit` on TensorFlow",
        10,
        True,
        (("table_batched", "jax"), ("table_fit", "tensorflow")),
        _second_over_first,
    ),
    Aim(
        "4 networks cnet_B, 2,000 CIFAR-shaped rows: speed, `train_many` on JAX over "
        "`fit` on JAX",
        1,
        True,
        (("images_many", "jax"), ("images_fit", "jax")),
        _second_over_first,
    ),
    Aim(
        "start-up of a grid of ten folds and ten learning rates, one epoch, "
        "compilation included: seconds",
        20,
        False,
        (("start", "jax"),),
        float,
    ),
    Aim(
        "memory of 16 networks 100-1000-500-1, predicted against measured: relative "
        "difference",
        0.2,
        False,
        (("memory", "jax"),),
        _difference,
    ),
)


def wine_batched(quick: bool) -> float:
    return _batched(_wine(quick), count=100, epochs=10 if quick else 100)


def wine_fit(quick: bool) -> float:
    return _fit(_wine(quick), epochs=3 if quick else 30)


def table_batched(quick: bool) -> float:
    return _batched(_table(quick), count=16, epochs=2)


def table_fit(quick: bool) -> float:
    return _fit(_table(quick), epochs=2)


def images_many(quick: bool) -> float:
    """Seconds per model-epoch of four networks with convolutions."""
    import numpy as np

    from keras_vaf.training import TrainingRun, train_many

    model, x, y, size = _images(quick)
    rows = np.arange(len(x))
    runs = [
        TrainingRun(_images(quick)[0], rows, rows[:size], build=0) for _ in range(4)
    ]
    train_many([TrainingRun(model, rows, rows[:size], build=0)], x, y, 1, size)
    started = time.perf_counter()
    train_many(runs, x, y, 1, size)
    return (time.perf_counter() - started) / 4


def images_fit(quick: bool) -> float:
    return _fit(_images(quick), epochs=4)


def start(quick: bool) -> float:
    """Seconds until all networks of a grid are compiled and trained for an epoch."""
    import keras
    import numpy as np

    from keras_vaf.models import mlp
    from keras_vaf.training import TrainingRun, fold_rows, train_many

    def build(rate: float) -> keras.Model:
        model = mlp(13, (100, 50), 3, keras.layers.ReLU, "softmax")
        loss = keras.losses.SparseCategoricalCrossentropy()
        model.compile(keras.optimizers.RMSprop(rate), loss)
        return model

    x = np.random.default_rng(0).normal(size=(178, 13))
    y = np.arange(178) % 3
    rates = np.linspace(1e-4, 1e-1, 2 if quick else 10).tolist()
    started = time.perf_counter()
    folds = fold_rows(y, folds=10)
    runs = [
        TrainingRun(build(rate), training, validation, build=0)
        for training, validation, _ in folds
        for rate in rates
    ]
    train_many(runs, x, y, epochs=1)
    return time.perf_counter() - started


def memory(quick: bool) -> float:
    """Predicted bytes of a batch over the bytes that it took."""
    import keras
    import numpy as np

    from keras_vaf.models import mlp
    from keras_vaf.optimizers import Rprop
    from keras_vaf.training.data import prepare
    from keras_vaf.training.history import StoppingRule
    from keras_vaf.training.loops.jax_batch import BatchLoop
    from keras_vaf.training.loops.jax_loop import state_of

    rows, width = 1_000, 4 if quick else 16
    x = np.random.default_rng(0).normal(size=(rows, 100)).astype("float32")
    data = x, x[:, :1]
    model = mlp(100, (1_000, 500), 1, keras.layers.ReLU)
    model.compile(Rprop(), "mse")
    prepare(model, data, None)
    rule = StoppingRule("val_loss", "min", None)
    states = [state_of(model, rule)] * width
    orders = np.broadcast_to(np.arange(rows, dtype="int32"), (1, width, rows))
    loop = BatchLoop(model, rule, None, width)
    validation = np.broadcast_to(np.arange(100), (width, 100))
    for _ in range(2):  # the first time it is compiled
        loop._state = None
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = _bytes("VmRSS")
        loop.begin(states, validation, data)
        loop.run(orders, 1)
    return loop.memory / (_bytes("VmHWM") - before)


def _bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    [line] = (line for line in lines if line.startswith(name))
    return 1024 * int(line.split()[1])


def _wine(quick: bool) -> tuple[Any, ...]:
    from keras_vaf.optimizers import Rprop

    return _dense(142, 13, 3, Rprop())


def _table(quick: bool) -> tuple[Any, ...]:
    import keras

    optimizer = keras.optimizers.RMSprop(0.001)
    return _dense(1_024 if quick else 8_192, 12, 1, optimizer, batch_size=128)


def _dense(
    rows: int, inputs: int, outputs: int, optimizer: Any, batch_size: int | None = None
) -> tuple[Any, ...]:
    """Return a model, its inputs and targets, and the batch size."""
    import keras
    import numpy as np

    from keras_vaf.models import mlp

    x = np.random.default_rng(0).normal(size=(rows, inputs)).astype("float32")
    model = mlp(inputs, (100, 50), outputs, keras.layers.ReLU)
    if outputs == 1:
        model.compile(optimizer, "mse")
        return model, x, x[:, :1], batch_size
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss)
    return model, x, np.arange(rows) % outputs, batch_size


def _images(quick: bool) -> tuple[Any, ...]:
    from benchmarks.speed.cases import JAX, RELU
    from benchmarks.speed.networks import batches, cnet_b, compiled_model

    shape = (50, 32, 32, 3)
    model = compiled_model(cnet_b(RELU, shape), shape, JAX)
    x, y = batches(shape, 2 if quick else 40)
    return model, x, y, shape[0]


def _batched(parts: tuple[Any, ...], count: int, epochs: int) -> float:
    """Seconds per model-epoch of networks that are trained together."""
    import numpy as np

    from keras_vaf.training.network_trainer import NetworkTrainer, widest
    from keras_vaf.training.runs import NetworkRun

    model, x, y, batch_size = parts
    rows = np.arange(len(x))
    trainer = NetworkTrainer(model, batch_size, width=widest())
    trainer.prepare((x, y))
    weights = model.get_weights()
    runs = [
        NetworkRun(trainer.start(weights, seed), rows, rows[::10], seed)
        for seed in range(count)
    ]
    trainer.train((x, y), runs[:1], epochs)
    started = time.perf_counter()
    trainer.train((x, y), runs, epochs)
    return (time.perf_counter() - started) / count / epochs


def _fit(parts: tuple[Any, ...], epochs: int) -> float:
    """Seconds per epoch of `fit`, with the same rows to validate on."""
    model, x, y, batch_size = parts
    size = batch_size or len(x)
    arguments = {
        "batch_size": size,
        "verbose": 0,
        "validation_data": (x[::10], y[::10]),
    }
    model.fit(x, y, epochs=1, **arguments)
    started = time.perf_counter()
    model.fit(x, y, epochs=epochs, **arguments)
    return (time.perf_counter() - started) / epochs


TASKS = (
    wine_batched,
    wine_fit,
    table_batched,
    table_fit,
    images_many,
    images_fit,
    start,
    memory,
)
