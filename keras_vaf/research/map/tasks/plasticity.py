"""Task 9: ten tasks in sequence, during which networks lose the ability to learn."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.research.map.arm import EVERYWHERE
from keras_vaf.research.map.task import (
    Apply,
    Batch,
    Problem,
    Settings,
    Task,
)
from keras_vaf.research.map.tasks.images_of_classes import pooled_images
from keras_vaf.research.map.tasks.networks import make_network

PHASES, SCORED = 10, 5
ROWS = {"full": 1000, "quick": 200}


def cross_entropy(apply: Apply, batch: Batch) -> Any:
    """Return the mean cross-entropy of logits."""
    losses = keras.losses.sparse_categorical_crossentropy(
        batch["y"], apply(batch["x"]), from_logits=True
    )
    return ops.mean(losses)


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of learning random labels of the same images, ten times.

    The error is measured on the training rows, at the end of each of the last five
    phases, because the task is to memorize the labels. The same error, of networks with
    other seeds, selects the learning rate.
    """
    rows = ROWS[settings.size]
    images, _ = pooled_images(dataset, "train", rows, size=14, colored=False)
    x = images.reshape(rows, -1).astype("float32")
    labels = np.random.default_rng(9).integers(0, 10, (PHASES, rows)).astype("int32")
    phases = tuple({"x": x, "y": each} for each in labels)

    def error(apply: Apply, held: Batch) -> Any:
        wrong = ops.argmax(apply(held["x"]), axis=-1) != held["y"]
        return ops.mean(ops.cast(wrong, "float32"))

    return Problem(
        network=make_network(x.shape[1], (100, 100), 10),
        loss=cross_entropy,
        validation=error,
        error=error,
        phases=phases,
        held=phases,
        scored=SCORED,
    )


TASK = Task(
    name="plasticity",
    title="Plasticity: ten tasks in turn",
    datasets=("mnist",),
    arms=EVERYWHERE,
    settings=Settings(steps=300, batch=100, decay=False),
    quick=Settings.quick(steps=10, batch=50, decay=False),
    make=make,
    measure="error on the training rows, last five of ten tasks",
)
