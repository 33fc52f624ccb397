"""`examine` converts one model, trains it, saves it, loads it again and freezes it."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import convert, freeze, report
from tests.models.networks import outputs_of
from tests.zoo.conversions.census import census
from tests.zoo.conversions.zoo import build

SAMPLES = 2
BATCH = 4
"""Inputs of the training step. Batch normalization of one value always gives 0."""


def examine(name: str, folder: Path) -> dict[str, Any]:
    """Return what happens to a model; a stage that fails has its error."""
    model = build(name)
    x = inputs_of(model)
    found = census(lambda: outputs_of(model, x))
    expected = outputs_of(model, x)
    result: dict[str, Any] = {"exist": len(found)}
    result["parameters"] = model.count_params()
    try:
        converted = convert(model)
    except ValueError as error:
        return {**result, "replaced": 0, "reason": str(error)}
    left = census(lambda: outputs_of(converted, x))
    changes = report(converted)
    result |= {
        "replaced": len(found) - len(left),
        "reported": len(changes.replaced),
        "kept": " | ".join(map(str, changes.kept)),
        "left": " | ".join(sorted("/".join(map(str, call)) for call in left)),
        "deviation": difference(expected, outputs_of(converted, x)),
    }
    stages: dict[str, Callable[[], dict[str, Any]]] = {
        "trained": lambda: train(converted, inputs_of(model, BATCH)),
        "reloaded": lambda: {"reloaded": reload(converted, x, folder / "a.keras")},
        "frozen": lambda: {
            "frozen": reload(freeze(converted, data=x), x, folder / "b.keras")
        },
    }
    for stage, work in stages.items():
        try:
            result |= work()
        except Exception as error:  # the table shows what failed
            traceback.print_exc()
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:600]
            result[stage] = reason
    return result


def inputs_of(model: keras.Model, samples: int = SAMPLES) -> Any:
    """Return random inputs of a model, tokens below 50 and masks of ones."""
    random = np.random.default_rng(0)

    def sample(entry: Any) -> np.ndarray:
        unknown = 32 if len(entry.shape) > 3 else 8
        shape = (samples, *(size or unknown for size in entry.shape[1:]))
        if keras.backend.is_float_dtype(entry.dtype):
            return random.normal(size=shape).astype("float32")
        if "mask" in entry.name:
            return np.ones(shape, entry.dtype)
        most = 2 if "segment" in entry.name else 50
        most = min(most, shape[-1]) if "position" in entry.name else most
        return random.integers(0, most, shape).astype(entry.dtype)

    return keras.tree.map_structure(sample, model.input)


def difference(expected: list[np.ndarray], outputs: list[np.ndarray]) -> float:
    """Return the largest difference, relative to the largest value of each output."""
    pairs = zip(expected, outputs, strict=True)
    return max(float(np.max(np.abs(b - a)) / np.max(np.abs(a))) for a, b in pairs)


def train(model: keras.Model, x: Any) -> dict[str, Any]:
    """Train a model for one step, and tell which activations changed."""
    layers = find_layers(model, TrainableActivation)
    before = [layer.get_weights() for layer in layers.values()]
    outputs = model(x, training=False)
    if model.compiled:  # a task of keras-hub, which predicts a class
        y = np.zeros(outputs.shape[:-1], "int32")
    else:
        y = keras.tree.map_structure(lambda z: np.zeros(z.shape, "float32"), outputs)
        model.compile("adam", keras.tree.map_structure(lambda _: "mse", y))
    history = model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0)
    changed = [
        any(np.any(a != b) for a, b in zip(old, layer.get_weights(), strict=True))
        for old, layer in zip(before, layers.values(), strict=True)
    ]
    return {
        "loss": history.history["loss"][0],
        "batch": BATCH,
        "activations": len(layers),
        "changed": sum(changed),
    }


def reload(model: keras.Model, x: Any, file: Path) -> float:
    """Save a model, load it, and return the largest relative difference of outputs."""
    model.save(file)
    loaded = keras.saving.load_model(file, compile=False)
    return difference(outputs_of(model, x), outputs_of(loaded, x))
