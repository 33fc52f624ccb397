"""Train many small networks, and compare with `fit`: `python -m benchmarks.training`.

Every task runs in a separate process, which prints one number. A ratio compares two
processes of the same round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.environment import environment
from keras_vaf.utils import markdown_table, write_atomically

ROUNDS = 3


class Aim(NamedTuple):
    """One line of the table.

    Args:
        what: What is measured.
        limit: The value to reach.
        tasks: Names of the tasks, each with its backend. Two of them make a speed, the
            second over the first, and more is better. Of one, less is better.
        difference: Whether the number counts by its difference from 1.
    """

    what: str
    limit: float
    tasks: tuple[tuple[str, str], ...]
    difference: bool = False

    def value(self, ours: float, theirs: float | None = None) -> float:
        if theirs is not None:
            return theirs / ours
        return abs(ours - 1) if self.difference else ours


AIMS = (
    Aim(
        "100 networks 13-100-50-3, 142 rows, full batch: speed, batched on JAX over "
        "`fit` on TensorFlow",
        40,
        (("wine_batched", "jax"), ("wine_fit", "tensorflow")),
    ),
    Aim(
        "16 networks 12-100-50-1, 8,192 rows, batches of 128: speed, batched on JAX "
        "over `fit` on TensorFlow",
        10,
        (("table_batched", "jax"), ("table_fit", "tensorflow")),
    ),
    Aim(
        "4 networks cnet_B, 2,000 CIFAR-shaped rows: speed, `train_many` on JAX over "
        "`fit` on JAX",
        1,
        (("images_many", "jax"), ("images_fit", "jax")),
    ),
    Aim(
        "start-up of a grid of ten folds and ten learning rates, one epoch, "
        "compilation included: seconds",
        20,
        (("start", "jax"),),
    ),
    Aim(
        "memory of 16 networks 100-1000-500-1, predicted against measured: relative "
        "difference",
        0.2,
        (("memory", "jax"),),
        difference=True,
    ),
)


def markdown(document: dict[str, Any]) -> str:
    """The page of the measurements, from what their JSON file holds."""
    lines = []
    for aim, result in zip(AIMS, document["results"], strict=True):
        values = [aim.value(*numbers) for numbers in result["rounds"]]
        middle = statistics.median(values)
        speed = len(aim.tasks) > 1
        reached = middle >= aim.limit if speed else middle <= aim.limit
        shown = f"{middle:.3g}" if reached else f"**{middle:.3g}** (missed)"
        each = ", ".join(f"{value:.3g}" for value in values)
        lines.append(
            [aim.what, f"{'>=' if speed else '<='} {aim.limit:g}", shown, each]
        )
    machine = [(name, str(text)) for name, text in document["environment"].items()]
    return f"""# Training many networks

Made by `python -m benchmarks.training`. Measured values are medians over rounds.

{markdown_table(["what", "aim", "measured", "rounds"], lines)}

{markdown_table(["machine", ""], machine, text_columns=2)}
"""


Parts = tuple[Any, Any, Any, int | None]
"""A compiled model, its inputs and targets, and the batch size."""


def _dense(inputs: int, sizes: tuple[int, int], outputs: int, rows: int) -> Parts:
    import keras
    import numpy as np

    from keras_vaf.models import mlp
    from keras_vaf.optimizers import Rprop

    x = np.random.default_rng(0).normal(size=(rows, inputs)).astype("float32")
    model = mlp(inputs, sizes, outputs, keras.layers.ReLU)
    if outputs == 1:
        model.compile(keras.optimizers.RMSprop(0.001), "mse")
        return model, x, x[:, :1], 128
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(Rprop(), loss)
    return model, x, np.arange(rows) % outputs, None


def _wine() -> Parts:
    return _dense(13, (100, 50), 3, rows=142)


def _table() -> Parts:
    return _dense(12, (100, 50), 1, rows=8_192)


def _images() -> Parts:
    import keras
    import numpy as np

    from keras_vaf.models import cnet

    model = cnet((32, 32, 3), (150, 150), 10, keras.layers.ReLU)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("rmsprop", loss)
    x = np.random.default_rng(0).standard_normal((2_000, 32, 32, 3), "float32")
    return model, x, np.arange(len(x)) % 10, 50


def _fit(parts: Parts, epochs: int) -> float:
    """Seconds per epoch of `fit`, with every tenth row to validate on."""
    model, x, y, batch_size = parts
    options = {"batch_size": batch_size or len(x), "verbose": 0}
    options["validation_data"] = x[::10], y[::10]
    model.fit(x, y, epochs=1, **options)
    started = time.perf_counter()
    model.fit(x, y, epochs=epochs, **options)
    return (time.perf_counter() - started) / epochs


def _batched(parts: Parts, count: int, epochs: int) -> float:
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


def images_many() -> float:
    """Seconds per model-epoch of four networks with convolutions."""
    import numpy as np

    from keras_vaf.training import TrainingRun, train_many

    _, x, y, size = _images()
    rows = np.arange(len(x))
    runs = [TrainingRun(_images()[0], rows, rows[:size], build=0) for _ in range(5)]
    train_many(runs[:1], x, y, 1, size)
    started = time.perf_counter()
    train_many(runs[1:], x, y, 1, size)
    return (time.perf_counter() - started) / 4


def start() -> float:
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
    started = time.perf_counter()
    runs = [
        TrainingRun(build(rate), training, validation, build=0)
        for training, validation, _ in fold_rows(y, folds=10)
        for rate in np.linspace(1e-4, 1e-1, 10).tolist()
    ]
    train_many(runs, x, y, epochs=1)
    return time.perf_counter() - started


def memory() -> float:
    """Predicted bytes of a batch over the bytes that it took."""
    import numpy as np

    from keras_vaf.training.data import prepare
    from keras_vaf.training.history import StoppingRule
    from keras_vaf.training.loops.jax_batch import BatchLoop
    from keras_vaf.training.loops.jax_loop import state_of

    rows, width = 1_000, 16
    model, x, y, _ = _dense(100, (1_000, 500), 1, rows)
    prepare(model, (x, y), None)
    rule = StoppingRule("val_loss", "min", None)
    states = [state_of(model, rule)] * width
    orders = np.broadcast_to(np.arange(rows, dtype="int32"), (1, width, rows))
    loop = BatchLoop(model, rule, None, width)
    validation = np.broadcast_to(np.arange(100), (width, 100))
    for _ in range(2):  # the first time it is compiled
        loop._state = None
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = _bytes("VmRSS")
        loop.begin(states, validation, (x, y))
        loop.run(orders, 1)
    return loop.memory / (_bytes("VmHWM") - before)


def _bytes(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{name}:")[1].split()[0])


TASKS: dict[str, Callable[[], float]] = {
    "wine_batched": lambda: _batched(_wine(), count=100, epochs=100),
    "wine_fit": lambda: _fit(_wine(), epochs=30),
    "table_batched": lambda: _batched(_table(), count=16, epochs=2),
    "table_fit": lambda: _fit(_table(), epochs=2),
    "images_many": images_many,
    "images_fit": lambda: _fit(_images(), epochs=4),
    "start": start,
    "memory": memory,
}


def measure(task: str, backend: str) -> float:
    """Do a task on a backend in a separate process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.training", "--task", task],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": backend},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training")
    parser.add_argument("--output", type=Path, default=Path("docs/reports/training"))
    parser.add_argument("--task", choices=TASKS, help="do this task, and print it")
    arguments = parser.parse_args(argv)
    if arguments.task:
        print(TASKS[arguments.task]())
        return 0
    results = []
    for aim in AIMS:
        rounds = [[measure(*task) for task in aim.tasks] for _ in range(ROUNDS)]
        print(f"{aim.what}: {[aim.value(*numbers) for numbers in rounds]}", flush=True)
        results.append({"what": aim.what, "tasks": aim.tasks, "rounds": rounds})
    document = {"environment": environment(), "results": results}
    path = arguments.output / "cpu.json"
    write_atomically(path, json.dumps(document, indent=1) + "\n")
    write_atomically(path.with_suffix(".md"), markdown(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
