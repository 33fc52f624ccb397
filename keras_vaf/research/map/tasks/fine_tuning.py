"""Task 8: fine-tuning of few parameters with few labels."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.models import convert, train_only_activations
from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.task import (
    Apply,
    Batch,
    Problem,
    Settings,
    Task,
)
from keras_vaf.research.map.tasks.images_of_classes import pooled_images

NAMES = ("mnist", "fashion_mnist", "cifar10")
LABELS = (200, 2000)
SIZE, TEST_ROWS = 14, 2000
PRETRAINING = {"full": (20_000, 6), "quick": (500, 1)}
"""Numbers of images and epochs of the pretraining."""


class ConvolutionByProducts(keras.layers.Conv2D):
    """A `Conv2D` with padding `"same"`, computed as one product of matrices.

    On processors, XLA takes several times as long for the gradient of a convolution's
    kernel as for the convolution. It takes longer still where the networks of a program
    have different kernels. At equal time, this would leave methods that train kernels
    very few steps. Products of matrices have no such cost.
    """

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        """Return the convolution of the inputs with a kernel."""
        padding, taps = [], []
        sizes = zip(inputs.shape[1:3], kernel.shape[:2], self.strides, strict=True)
        for size, width, step in sizes:
            last = (-(-size // step) - 1) * step
            missing = max(last + width - size, 0)
            padding.append((missing // 2, missing - missing // 2))
            taps.append([slice(i, i + last + 1, step) for i in range(width)])
        x = ops.pad(inputs, ((0, 0), *padding, (0, 0)))
        patches = [x[:, rows, columns] for rows in taps[0] for columns in taps[1]]
        products = ops.reshape(kernel, (-1, kernel.shape[-1]))
        return ops.matmul(ops.concatenate(patches, axis=-1), products)


def make_network() -> keras.Sequential:
    """Return the network for pretraining: three convolutions and 64 units."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((SIZE, SIZE, 3))])
    for filters, strides in ((16, 1), (32, 2), (64, 2)):
        model.add(ConvolutionByProducts(filters, 3, strides, padding="same"))
        model.add(layers.BatchNormalization())
        model.add(layers.ReLU())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(64, name="hidden"))
    model.add(layers.ReLU())
    model.add(layers.Dense(10, name="head"))
    return model


@functools.lru_cache(maxsize=3)
def pretrained(source: str, size: str) -> tuple[np.ndarray, ...]:
    """Return the weights of a network trained on the source dataset."""
    rows, epochs = PRETRAINING[size]
    x, y = pooled_images(source, "train", rows, SIZE, colored=True)
    keras.utils.set_random_seed(8)
    model = make_network()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.001), loss)
    model.fit(x, y, batch_size=128, epochs=epochs, verbose=0)
    return tuple(model.get_weights())


def network_of(source: str, size: str) -> Any:
    """Return a function that builds a network with the trainable parts of a method."""

    def network(arm: Arm, seed: int) -> keras.Model:
        model = make_network()
        model.set_weights(pretrained(source, size))
        head = model.get_layer("head")
        start = keras.initializers.GlorotUniform(seed=seed)
        head.set_weights([ops.convert_to_numpy(start((64, 10))), np.zeros(10)])
        return _PREPARE[arm.layer](model, arm)

    return network


def _only(model: keras.Model, *names: str) -> keras.Model:
    """Make only the head and the weights with given names trainable."""
    model.trainable = True
    for layer in model.layers:
        for weight in layer.trainable_variables:
            weight.trainable = layer.name == "head" or weight.name in names
    return model


def _lora(model: keras.Model, arm: Arm) -> keras.Model:
    for layer in model.layers[:-1]:
        if hasattr(layer, "enable_lora"):
            layer.enable_lora(arm.arguments["rank"])
    for layer in model.layers[:-1]:
        for weight in layer.trainable_variables:
            weight.trainable = "lora" in weight.name
    return model


def _prelu(model: keras.Model, arm: Arm) -> keras.Model:
    _only(model)
    new = keras.Sequential([keras.Input((SIZE, SIZE, 3))])
    for layer in model.layers:
        image = isinstance(layer, keras.layers.ReLU) and len(layer.output.shape) == 4
        axes = (1, 2) if image else None
        relu = isinstance(layer, keras.layers.ReLU)
        new.add(keras.layers.PReLU(shared_axes=axes) if relu else layer)
    return new


def _vaf(model: keras.Model, arm: Arm) -> keras.Model:
    converted = convert(model, **arm.arguments)
    return train_only_activations(converted, also=["head"], inplace=True)


_PREPARE = {
    "probe": lambda model, arm: _only(model),
    "biases": lambda model, arm: _only(model, "bias"),
    "normalization": lambda model, arm: _only(model, "gamma", "beta"),
    "everything": lambda model, arm: model,
    "prelu": _prelu,
    "lora": _lora,
    "vaf": _vaf,
}


def _cross_entropy(apply: Apply, batch: Batch) -> Any:
    logits = apply(batch["x"])
    losses = keras.losses.sparse_categorical_crossentropy(
        batch["y"], logits, from_logits=True
    )
    return ops.mean(losses)


def _validation(apply: Apply, held: Batch) -> Any:
    return _cross_entropy(apply, {"x": held["validation_x"], "y": held["validation_y"]})


def _error(apply: Apply, held: Batch) -> Any:
    wrong = ops.argmax(apply(held["x"]), axis=-1) != held["y"]
    return ops.mean(ops.cast(wrong, "float32"))


def make(dataset: str, settings: Settings) -> Problem:
    """Return the problem of a pair; a quarter of the labels selects learning rates."""
    source, target, labels = dataset.split("-")
    count = int(labels)
    x, y = pooled_images(target, "train", count, SIZE, colored=True)
    test_rows = TEST_ROWS if settings.size == "full" else 200
    test_x, test_y = pooled_images(target, "test", test_rows, SIZE, colored=True)
    cut = count * 3 // 4
    held = {"validation_x": x[cut:], "validation_y": y[cut:], "x": test_x, "y": test_y}
    return Problem(
        network=network_of(source, settings.size),
        loss=_cross_entropy,
        validation=_validation,
        error=_error,
        phases=({"x": x[:cut], "y": y[:cut]},),
        held=(held,),
    )


ARMS = (
    Arm("probe", "Head alone", "fixed", "probe"),
    Arm("biases", "Biases", "fixed", "biases"),
    Arm("normalization", "Normalization", "fixed", "normalization"),
    Arm("vaf-layer", "VAF per layer", "vaf", "vaf", {"sharing": "layer"}),
    Arm("vaf-channel", "VAF per channel", "vaf", "vaf", {"sharing": "channel"}),
    Arm(
        "vaf-channel-6",
        "VAF per channel, k = 6",
        "vaf",
        "vaf",
        {"k": 6, "sharing": "channel"},
    ),
    Arm("prelu", "PReLU per channel", "rival", "prelu"),
    Arm("lora-1", "LoRA, rank 1", "rival", "lora", {"rank": 1}),
    Arm("lora-4", "LoRA, rank 4", "rival", "lora", {"rank": 4}),
    Arm("everything", "Everything", "rival", "everything"),
)

TASK = Task(
    name="fine_tuning",
    title="Fine-tuning with few labels",
    datasets=tuple(
        f"{source}-{target}-{labels}"
        for source, target in itertools.permutations(NAMES, 2)
        for labels in LABELS
    ),
    arms=ARMS,
    settings=Settings(steps=300, batch=50),
    quick=Settings.quick(steps=5, batch=20),
    make=make,
    measure="error on the test rows",
)
