"""Train the networks of `docs/records/registered_relu.md`, and replace activations.

`KERAS_BACKEND=jax python -m benchmarks.relu FOLDER [ARM ...]` adds the weights of each
network and a line of `records.jsonl` for each arm, and continues what it finds there.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import layers

from benchmarks.relu.families import FAMILIES, REGRESSIONS, Family
from keras_vaf.models import convert
from keras_vaf.training.recipe import LEARNING_RATES
from keras_vaf.utils import atomic_path

ENTROPY = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
FITS = {f"k={k}{way}": (k, way) for k in (3, 5) for way in ("", " fitted")}
ARMS = ["original", "relu", "hard", *FITS, "relu trained", "prelu trained"]
KEYS = ["family", "dataset", "seed", "arm"]


def original(cell: tuple[str, str, int], rows: Any, folder: Path) -> Any:
    """Return the trained network, from its file if there is one."""
    name, dataset, seed = cell
    family, file = FAMILIES[name], folder / f"{name}, {dataset}, {seed}.weights.h5"
    keras.utils.set_random_seed(seed)
    model = family.network(dataset, rows[0].shape[1:])
    if not file.exists():
        decay = keras.optimizers.schedules.CosineDecay(family.rate, family.steps)
        loss = "mse" if dataset in REGRESSIONS else ENTROPY
        model.compile(keras.optimizers.Adam(decay), loss)
        epochs = math.ceil(family.steps / math.ceil(len(rows[0]) / family.batch))
        model.fit(*rows[:2], family.batch, epochs, verbose=0)
        with atomic_path(file) as path:
            model.save_weights(path)
    model.load_weights(file)
    return model


def replaced(model: Any, family: Family, arm: str, seen: Any) -> Any:
    """Return the model of an arm before any training."""
    if arm in FITS:
        k, way = FITS[arm]
        return convert(model, g="relu", k=k, data=seen if way else None)
    if arm == "prelu trained":
        return convert(model, to=prelu)
    kind = family.hard if arm == "hard" else "relu"
    return convert(model, to=lambda _: layers.Activation(kind))


def prelu(layer: Any) -> Any:
    """Return a PReLU with one slope for each channel."""
    return layers.PReLU(shared_axes=[*range(1, layer.output.ndim - 1)])


def distil(model: Any, seen: Any, outputs: Any, all_weights: bool) -> dict[str, Any]:
    """Train a model towards outputs, but for the statistics of its normalizations.

    A quarter of the inputs is kept out, and selects the epoch and the learning rate.
    """
    for each in model.trainable_variables:
        each.trainable = all_weights or each.name in ("alpha", "beta", "bias")
    inputs = keras.Input(seen.shape[1:])
    fixed = keras.Model(inputs, model(inputs, training=False))
    fixed.compile(keras.optimizers.Adam(), "mse")
    start, quarter, tries = fixed.get_weights(), len(seen) // 4, []
    parts = [(each[:quarter], each[quarter:]) for each in (seen, outputs)]
    held, own = zip(*parts, strict=True)
    for rate in LEARNING_RATES:
        keras.utils.set_random_seed(0)
        fixed.set_weights(start)
        for each in fixed.optimizer.variables:
            each.assign(np.zeros(each.shape))
        fixed.optimizer.learning_rate = rate
        stop = keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)
        run = fixed.fit(*own, 32, 60, 0, [stop], validation_data=held)
        losses = run.history["val_loss"]
        tries.append((min(losses), rate, len(losses), fixed.get_weights()))
    _, rate, epochs, weights = min(tries, key=lambda each: each[0])
    fixed.set_weights(weights)
    return {"rate": rate, "epochs": epochs}


def error(outputs: Any, y: Any, dataset: str) -> float:
    """Return the RMSE, the loss, or the number of wrong answers."""
    if dataset in REGRESSIONS:
        return float(np.sqrt(np.mean((outputs[:, 0] - y) ** 2)))
    if dataset == "text":
        return float(ENTROPY(y, outputs))
    return int((outputs.argmax(-1) != y).sum())


def study(cell: Any, arms: list[str], folder: Path) -> None:
    """Append the records of some arms of one network."""
    name, dataset, seed = cell
    family = FAMILIES[name]
    rows = family.data(dataset, seed)
    model = original(cell, rows, folder)
    seen = np.random.default_rng(seed).permutation(rows[0])[:256]
    for arm in arms:
        changed, more = model, dict[str, Any]()
        if arm != "original":
            changed = replaced(model, family, arm, seen)
        if arm.endswith("trained"):
            outputs = model.predict(seen, verbose=0)
            more = distil(changed, seen, outputs, arm[0] == "r")
        outputs = changed.predict(rows[2], 500, verbose=0)
        test = error(outputs, rows[3], dataset)
        row = dict(zip(KEYS, (*cell, arm), strict=True)) | {"test": test} | more
        with (folder / "records.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(row)}\n")


def main(folder: Path, arms: list[str]) -> None:
    """Go through all networks, seed by seed."""
    (folder / "records.jsonl").touch()
    lines = (folder / "records.jsonl").read_text("utf-8").splitlines()
    done = {tuple(json.loads(line)[key] for key in KEYS) for line in lines}
    for seed in range(5):
        for name, family in FAMILIES.items():
            for cell in ((name, dataset, seed) for dataset in family.datasets):
                own = [arm for arm in arms if arm != "hard" or family.hard]
                if own := [arm for arm in own if (*cell, arm) not in done]:
                    study(cell, own, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ARMS)
