"""The Python batches of CIFAR-10: pickles that Python 2 wrote."""

import io
import pickle
import tarfile
from collections.abc import Sequence
from typing import Any

import numpy as np

# What a batch needs to be put together again; anything else could run code. The first
# is taken from an array because NumPy has moved it between modules.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}

_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


class BatchUnpickler(pickle.Unpickler):
    """Unpickles arrays of NumPy and plain Python values, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what a pickle asks for, if a batch may need it."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]


def read_cifar_batch(content: bytes, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Read one batch.

    Args:
        content: The bytes of the file. Check them against a known checksum first.
        file: Name of the file, for error messages.

    Returns:
        Images, `(rows, 32, 32, 3)`, and labels, both uint8.

    Raises:
        ValueError: If the file is not a batch.
    """
    try:
        batch = BatchUnpickler(io.BytesIO(content), encoding="bytes").load()
        images = batch[b"data"].reshape(-1, 3, 32, 32)
        labels = np.array(batch[b"labels"])
    except Exception as error:  # A broken pickle may raise anything.
        raise ValueError(
            f"{file}: expected a batch of CIFAR-10. "
            f"Received: {type(error).__name__}: {error}"
        ) from error
    if images.dtype != np.uint8 or labels.shape != images.shape[:1]:
        raise ValueError(
            f"{file}: expected images of bytes, each with a label. Received: images "
            f"{images.dtype} {images.shape}, labels {labels.dtype} {labels.shape}"
        )
    if not np.isin(labels, np.arange(10)).all():
        raise ValueError(f"{file}: expected labels from 0 to 9. Received: {labels}")
    return images.transpose(0, 2, 3, 1), labels.astype(np.uint8)


def read_cifar_batches(
    contents: Sequence[tuple[bytes, str]],
) -> tuple[np.ndarray, np.ndarray]:
    """Read several batches, one after the other.

    Args:
        contents: Bytes and name of each file, in the order of the rows.

    Returns:
        All images and all labels.

    Raises:
        ValueError: If a file is not a batch.
    """
    batches = [read_cifar_batch(content, file) for content, file in contents]
    images, labels = zip(*batches, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def read_cifar_archive(
    contents: Sequence[tuple[bytes, str]],
) -> tuple[np.ndarray, np.ndarray]:
    """Read the batches from the publisher's archive, without unpacking it to disk.

    Args:
        contents: Bytes, already decompressed, and name of the archive.

    Returns:
        All images and all labels.

    Raises:
        ValueError: If the file is not an archive of the batches.
    """
    ((content, file),) = contents
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            batches = [(_member(archive, name), f"{file}, {name}") for name in _BATCHES]
    except (tarfile.TarError, KeyError, OSError) as error:
        raise ValueError(
            f"{file}: expected an archive of the batches of CIFAR-10. Received: {error}"
        ) from error
    return read_cifar_batches(batches)


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(f"cifar-10-batches-py/{name}")
    if member is None:
        raise KeyError(f"{name} is not a file")
    return member.read()
