"""The axes along which elements share one function."""

from collections.abc import Sequence
from typing import Literal

import keras

from keras_vaf.utils import check_choice, did_you_mean

Sharing = Literal["layer", "channel", "neuron"] | tuple[int, ...]
NAMES = ("layer", "channel", "neuron")
DATA_FORMATS = ("channels_last", "channels_first")


def validate_sharing(sharing: str | Sequence[int]) -> Sharing:
    """Return a valid `sharing`; the rank of the input is checked later.

    Args:
        sharing: `"layer"`, `"channel"`, `"neuron"`, or the axes along which the
            function is shared, counted over the whole input.

    Returns:
        The name, or a tuple of axes.

    Raises:
        ValueError: If the argument is neither.
    """
    if isinstance(sharing, str) and sharing in NAMES:
        return sharing  # type: ignore[return-value]
    if not isinstance(sharing, tuple | list) or not all(
        isinstance(axis, int) and not isinstance(axis, bool) for axis in sharing
    ):
        hint = did_you_mean(sharing, NAMES)
        raise ValueError(
            "`sharing` must be 'layer', 'channel', 'neuron' or a tuple of axes along "
            f"which the function is shared, such as (1, 2).{hint} "
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
    """Return the place of the channel axis.

    Args:
        data_format: `"channels_last"`, `"channels_first"`, or `None` for
            `keras.config.image_data_format()`.

    Raises:
        ValueError: If it is not one of these.
    """
    if data_format is None:
        return keras.config.image_data_format()
    return check_choice("data_format", data_format, DATA_FORMATS)


def unshared_axes(sharing: Sharing, rank: int, data_format: str) -> tuple[int, ...]:
    """Return the axes along which functions differ, ascending.

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


def unshared_sizes(
    axes: Sequence[int], input_shape: Sequence[int | None], sharing: Sharing
) -> tuple[int, ...]:
    """Return the sizes of the axes that are not shared.

    Args:
        axes: The axes.
        input_shape: Shape of the input, with the batch.
        sharing: As the layer has it, for the error message.

    Raises:
        ValueError: If a size is unknown.
    """
    sizes = [input_shape[axis] for axis in axes]
    known = tuple(size for size in sizes if size is not None)
    if len(known) < len(sizes):
        raise ValueError(
            "Axes along which the function is not shared must have a known size: "
            "give the input a full shape, or share the function along them (see "
            f"`sharing`). Received: input_shape={tuple(input_shape)} with "
            f"sharing={sharing!r}"
        )
    return known
