"""IDX, the format of MNIST."""

import struct
from collections.abc import Sequence

import numpy as np

# The third byte says that the values are unsigned bytes, the fourth the number of axes.
_UNSIGNED_BYTE = 0x08


def read_idx(content: bytes, file: str) -> np.ndarray:
    """Read an array of unsigned bytes.

    Args:
        content: The bytes of the file.
        file: Name of the file, for error messages.

    Returns:
        The array, uint8.

    Raises:
        ValueError: If the file is no such array, or has more or fewer values than its
            header says.

    Example:

    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 5, 7]), "two")
    array([5, 7], dtype=uint8)
    """
    if len(content) < 4 or content[:3] != bytes([0, 0, _UNSIGNED_BYTE]):
        raise ValueError(
            f"{file}, header: expected an IDX file of unsigned bytes. "
            f"Received: {content[:4].hex(' ') or 'an empty file'}"
        )
    axes = content[3]
    start = 4 + 4 * axes
    if len(content) < start:
        raise ValueError(
            f"{file}, header: expected {axes} sizes. Received: {len(content)} bytes"
        )
    shape = struct.unpack(f">{axes}I", content[4:start])
    values = np.frombuffer(content, np.uint8, offset=start)
    expected = np.prod(shape, dtype=object)
    if values.size != expected:
        raise ValueError(
            f"{file}: expected {expected} values after the header. "
            f"Received: {values.size}"
        )
    return values.reshape(shape)


def read_idx_parts(
    contents: Sequence[tuple[bytes, str]],
) -> tuple[np.ndarray, np.ndarray]:
    """Read the parts of a set of grey images.

    Args:
        contents: Bytes and name of each file: images and labels of each part in turn.

    Returns:
        All images, `(rows, height, width, 1)`, and all labels, uint8.

    Raises:
        ValueError: If a file is not what it must be.
    """
    images, labels = [], []
    for image_file, label_file in zip(contents[::2], contents[1::2], strict=True):
        images.append(_read_axes(*image_file, axes=3))
        labels.append(_read_axes(*label_file, axes=1))
        if len(images[-1]) != len(labels[-1]):
            raise ValueError(
                f"{label_file[1]}: expected a label for each of the {len(images[-1])} "
                f"images of {image_file[1]}. Received: {len(labels[-1])}"
            )
    return np.concatenate(images)[..., None], np.concatenate(labels)


def _read_axes(content: bytes, file: str, axes: int) -> np.ndarray:
    array = read_idx(content, file)
    if array.ndim != axes:
        raise ValueError(
            f"{file}: expected {axes} axes. Received: an array of shape {array.shape}"
        )
    return array
