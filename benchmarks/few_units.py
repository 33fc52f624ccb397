"""Train the networks of `docs/records/registered_0_4.md`, one row for each training.

`KERAS_BACKEND=jax python -m benchmarks.few_units FILE` appends the rows to a CSV file,
and continues after those that it has. `benchmarks/few_tables.py` says what to install.
"""

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from benchmarks.few_tables import TABLES, load
from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import NetworkRun, Trainer, fold_rows
from keras_vaf.training.seeds import independent_seeds

SEEDS = range(5)
RATES: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1)
UNTUNED: dict[str, tuple[float, ...]] = {
    "relu": (0.001, 0.003),
    **dict.fromkeys(("silu", "vaf-relu", "vaf-silu"), (0.001,)),
}
FEW = dict.fromkeys(("relu", "silu", "tanh", "vaf-silu"), RATES)
QUESTIONS = {0: UNTUNED, 2: FEW, 4: FEW, 8: FEW, 16: FEW}
"""Learning rates by activation; 0 means question U, others are numbers of units."""

NUMBERS = 10  # of a VAF with k = 3
RESULTS = ["epoch", "stopped", "validation", "test", "constant"]
COLUMNS = ["question", "dataset", "activation", "units", "parameters", "rate", "seed"]


class Cell(NamedTuple):
    """Networks that are trained together."""

    question: int
    dataset: str
    activation: str

    def hidden(self, inputs: int) -> list[int]:
        """Return the hidden units; the rivals of few units with a VAF get more."""
        if not self.question:
            return [100, 50]
        more = 0 if "vaf" in self.activation else math.ceil(NUMBERS / (inputs + 2))
        return [self.question + more]

    def layer(self) -> keras.layers.Layer:
        """Return a new activation layer."""
        kind, _, start = self.activation.partition("-")
        if start:
            return VAFActivation(k=3, g=start, initialization=start)
        return keras.layers.Activation(kind)


class DecayingAdam(keras.optimizers.Adam):
    """Adam with a learning rate that falls linearly to zero within some steps."""

    def __init__(self, steps: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.steps = steps

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update a variable with the learning rate of this step."""
        done = keras.ops.cast(self.iterations, "float32") / self.steps
        rate = learning_rate * keras.ops.maximum(0.0, 1.0 - done)
        super().update_step(gradient, variable, rate)


def cells() -> Iterator[Cell]:
    """Yield all cells; each question is finished before the next one starts."""
    for question, activations in QUESTIONS.items():
        for dataset in TABLES:
            for activation in activations:
                yield Cell(question, dataset, activation)


def train(cell: Cell, dataset: Dataset) -> Iterator[list[Any]]:
    """Train the networks of a cell, and yield a row for each."""
    splits = [fold_rows(dataset.y, 5, seed, stratify=False)[0] for seed in SEEDS]
    parts = []
    for training, _, _ in splits:
        fitted = Preprocessing(targets="min-max").fit(dataset, training)
        parts.append(fitted.transform(dataset, np.arange(len(dataset.x))))
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    batch, epochs = (32, 200) if cell.question else (64, 300)
    hidden, weights = cell.hidden(x.shape[1]), []
    for seed in SEEDS:
        [kernels] = independent_seeds(seed, "kernels")
        model = mlp(x.shape[1], hidden, 1, cell.layer, seed=kernels)
        weights.append(model.get_weights())
    steps = math.ceil(len(splits[0][0]) / batch) * epochs
    model.compile(DecayingAdam(steps), "mse")
    rates = QUESTIONS[cell.question][cell.activation]
    tries = [(rate, seed) for rate in rates for seed in SEEDS]
    trainer = Trainer(model, batch, width=len(tries))
    trainer.prepare((x, y[:, None]))
    runs = []
    for rate, seed in tries:
        first, second, _ = (rows + seed * len(dataset.x) for rows in splits[seed])
        start = trainer.start(weights[seed], seed, rate)
        runs.append(NetworkRun(start, first, second, seed))
    trained = trainer.train_runs((x, y[:, None]), runs, epochs)
    for (rate, seed), (history, best) in zip(tries, trained, strict=True):
        model.set_weights(best)
        validation = history.best.get("val_loss", math.inf)
        scores = errors(model, *parts[seed], *splits[seed][::2])
        own = [*cell, hidden[0], model.count_params(), rate, seed]
        yield [*own, history.best_epoch, history.stopped, validation, *scores]


def errors(
    model: keras.Model, x: np.ndarray, y: np.ndarray, training: Any, test: Any
) -> tuple[float, float]:
    """Return the test errors of a network and of the mean, which replaces infinity."""
    outputs = keras.ops.convert_to_numpy(model(x[test]))[:, 0]
    error, constant = (
        math.sqrt(np.mean((each - y[test]) ** 2))
        for each in (outputs, y[training].mean())
    )
    return error if math.isfinite(error) else constant, constant


def main(path: Path) -> None:
    """Train the cells that have no rows."""
    path.touch()
    with path.open("r+", encoding="utf-8", newline="") as file:
        done = {tuple(row[:3]) for row in csv.reader(file)}
        writer = csv.writer(file)
        if not done:
            writer.writerow(COLUMNS + RESULTS)
        for cell in cells():
            if tuple(map(str, cell)) not in done:
                writer.writerows(list(train(cell, load(cell.dataset))))
                file.flush()
                print(*cell, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
