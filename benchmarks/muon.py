"""Muon with and without the rule for activation parameters, on handwritten digits.

    KERAS_BACKEND=torch python -m benchmarks.muon --output docs/reports/training

`keras.optimizers.Muon` orthogonalizes weights that are matrices. Those are also alpha,
alpha_bias and beta of VAFs that are shared per channel; `activations_apart` trains them
by the element-wise rule. The digits come with scikit-learn. It takes two minutes.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import keras
import numpy as np

from benchmarks.environment import environment
from keras_vaf.layers import VAFActivation
from keras_vaf.optimizers import activations_apart
from keras_vaf.utils import markdown_table, require, write_atomically

ARMS = ("Muon alone", "activations_apart", "activations are not trained")
RATES = (0.001, 0.003, 0.01, 0.03)
SEEDS = range(5)
EPOCHS = 15


def network(trained: bool) -> keras.Sequential:
    """Return a network of VAFs that are shared per channel and start as ReLU."""
    layers = []
    for _ in range(2):
        vaf = VAFActivation(sharing="channel", trainable=trained)
        layers += [keras.layers.Dense(64), vaf]
    return keras.Sequential([keras.Input((64,)), *layers, keras.layers.Dense(10)])


def score(arm: str, rate: float, seed: int, x: Any, y: Any) -> tuple[float, float]:
    """Train a network, and return its validation loss and accuracy."""
    keras.utils.set_random_seed(seed)
    order = np.random.default_rng(seed).permutation(len(x))
    training, validation = order[:1400], order[1400:]
    model = network(trained=arm != ARMS[2])
    optimizer = keras.optimizers.Muon(rate)
    if arm == ARMS[1]:
        optimizer = activations_apart(model, optimizer)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    model.fit(x[training], y[training], batch_size=70, epochs=EPOCHS, verbose=0)
    rest = x[validation], y[validation]
    found, accuracy = model.evaluate(*rest, batch_size=len(validation), verbose=0)
    return float(found), float(accuracy)


def markdown(document: dict[str, Any]) -> str:
    """Return the page of the pilot, from the content of its JSON file."""
    lines = []
    for result in document["results"]:
        losses, accuracies = zip(*result["scores"], strict=True)
        shown = [f"{statistics.mean(losses):.3f}", f"{statistics.stdev(losses):.3f}"]
        shown.append(f"{100 * statistics.mean(accuracies):.1f} %")
        alone = next(
            each["scores"]
            for each in document["results"]
            if (each["arm"], each["rate"]) == (ARMS[0], result["rate"])
        )
        pairs = zip(result["scores"], alone, strict=True)
        lower = sum(own < other for (own, _), (other, _) in pairs)
        shown.append("" if result["arm"] == ARMS[0] else f"{lower} of {len(alone)}")
        lines.append([result["arm"], f"{result['rate']:g}", *shown])
    columns = ["arm", "learning rate", "validation loss", "deviation", "accuracy"]
    columns.append(f"seeds with a lower loss than {ARMS[0]}")
    return "\n".join(
        [
            "# Muon and activation parameters",
            "",
            "Made by `python -m benchmarks.muon`. Digits of scikit-learn, two hidden "
            f"layers of 64 units, k = 3, shared per channel, {EPOCHS} epochs. Loss and "
            f"accuracy after the last epoch, on 397 validation rows, are means over "
            f"{len(SEEDS)} seeds, which draw the rows and the first weights.",
            "",
            markdown_table(columns, lines),
            "",
        ]
    )


def main() -> None:
    """Train every arm, and write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.muon")
    parser.add_argument("--output", type=Path, default=Path("runs"))
    output = parser.parse_args().output
    x, y = require("sklearn.datasets", extra="sklearn").load_digits(return_X_y=True)
    x = (x / 16).astype("float32")
    about = environment() | {"backend": keras.backend.backend()}
    document: dict[str, Any] = {"environment": about, "results": []}
    for arm in ARMS:
        for rate in RATES:
            scores = [score(arm, rate, seed, x, y) for seed in SEEDS]
            result = {"arm": arm, "rate": rate, "scores": scores}
            document["results"].append(result)
            print(result, flush=True)
    write_atomically(output / "muon.json", json.dumps(document, indent=1) + "\n")
    write_atomically(output / "muon.md", markdown(document))


if __name__ == "__main__":
    main()
