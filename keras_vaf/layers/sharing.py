"""Which elements share one function, and where the channel axis is."""

from collections.abc import Sequence
from typing import Literal

import keras

Sharing = Literal["layer", "channel", "neuron"] | tuple[int, ...]
NAMES = ("layer", "channel", "neuron")


def validate_sharing(sharing: str | Sequence[int]) -> Sharing:
    """Check what does not depend on the rank of the input.

    Args:
        sharing: `"layer"`, `"channel"`, `"neuron"`, or the axes along which the
            function is shared, counted over the whole input.

    Returns:
        The name, or a tuple of axes.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(sharing, str) and sharing in NAMES:
        return sharing  # type: ignore[return-value]
    if not isinstance(sharing, tuple | list) or not all(
        isinstance(axis, int) and not isinstance(axis, bool) for axis in sharing
    ):
        raise ValueError(
            "`sharing` must be 'layer', 'channel', 'neuron' or a tuple of axes along "
            "which the function is shared, such as (1, 2). "
            f"Received: sharing={sharing!r}"
        )
    if 0 in sharing:
        raise ValueError(
            "`sharing` must not name the batch axis, 0, along which the function is "
            f"always shared. Received: sharing={sharing!r}"
        )
    if len(set(sharing)) != len(sharing):
        raise ValueError(
            f"`sharing` must name each axis once. Received: sharing={sharing!r}"
        )
    return tuple(sharing)


def validate_data_format(data_format: str | None) -> str:
    """Say where the channel axis is.

    Args:
        data_format: `"channels_last"`, `"channels_first"`, or `None` for
            `keras.config.image_data_format()`.

    Raises:
        ValueError: If it is none of these.
    """
    if data_format is None:
        return keras.config.image_data_format()
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(
            "`data_format` must be 'channels_last', 'channels_first' or None. "
            f"Received: data_format={data_format!r}"
        )
    return data_format


def unshared_axes(sharing: Sharing, rank: int, data_format: str) -> tuple[int, ...]:
    """Axes along which functions differ, ascending.

    Args:
        sharing: A valid sharing.
        rank: Number of axes of the input, the batch counted.
        data_format: `"channels_last"` or `"channels_first"`, the place of the channel
            axis at rank 3 and more. At rank 2 it is the last axis.

    Raises:
        ValueError: If an axis does not exist at this rank, or is the batch axis, or is
            named twice.
    """
    if sharing == "layer":
        return ()
    if sharing == "channel":
        return (1 if data_format == "channels_first" or rank == 2 else rank - 1,)
    if sharing == "neuron":
        return tuple(range(1, rank))
    resolved = [axis + rank if axis < 0 else axis for axis in sharing]
    if any(not 0 < axis < rank for axis in resolved):
        raise ValueError(
            f"For an input of rank {rank}, `sharing` may name the axes 1 to {rank - 1} "
            f"or -{rank - 1} to -1. Received: sharing={sharing!r}"
        )
    if len(set(resolved)) != len(resolved):
        raise ValueError(
            f"For an input of rank {rank}, `sharing` names an axis twice. "
            f"Received: sharing={sharing!r}"
        )
    return tuple(axis for axis in range(1, rank) if axis not in resolved)
