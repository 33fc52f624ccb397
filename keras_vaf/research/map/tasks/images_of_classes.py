"""`pooled_images`, which reads MNIST, Fashion-MNIST and CIFAR-10 at a small size."""

from __future__ import annotations

import functools

import numpy as np

from keras_vaf.datasets import load

_TEST = 10_000  # test images, at the end of each dataset


@functools.lru_cache(maxsize=8)
def pooled_images(
    name: str, part: str, rows: int, size: int, colored: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return images in [-1, 1], pooled to a given size, and their classes.

    Args:
        name: `"mnist"`, `"fashion_mnist"` or `"cifar10"`.
        part: `"train"` or `"test"`, as split by the publisher.
        rows: Number of images, taken from the beginning.
        size: Number of pixels along both axes.
        colored: Whether to return three channels, which are equal for grey images.
    """
    dataset = load(name)
    chosen = slice(None, -_TEST) if part == "train" else slice(-_TEST, None)
    images = np.asarray(dataset.x[chosen][:rows], "float32")
    images = images.reshape(len(images), *_shape(images))
    pixels = images.shape[1] // size * size
    edge = (images.shape[1] - pixels) // 2
    images = images[:, edge : edge + pixels, edge : edge + pixels]
    block = pixels // size
    images = images.reshape(len(images), size, block, size, block, -1).mean((2, 4))
    images = images.mean(-1, keepdims=True) if not colored else images
    images = np.repeat(images, 3, -1) if colored and images.shape[-1] == 1 else images
    return images / 127.5 - 1, np.asarray(dataset.y[chosen][:rows], "int32")


def _shape(images: np.ndarray) -> tuple[int, int, int]:
    if images.ndim == 4:
        return images.shape[1:]
    pixels = int(np.prod(images.shape[1:]))
    channels = 3 if pixels == 3072 else 1
    side = int((pixels // channels) ** 0.5)
    return (side, side, channels)
