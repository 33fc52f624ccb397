"""`unshared_axes` and the checks of `sharing`, which says who shares a function."""

from collections.abc import Sequence
from typing import Literal

import keras

from keras_vaf.utils import check_choice, did_you_mean

Sharing = Literal["layer", "channel", "neuron"] | tuple[int, ...]
NAMES = ("layer", "channel", "neuron")


def validate_sharing(sharing: str | Sequence[int]) -> Sharing:
    """Check `sharing` and return it. The rank of the input is checked later."""
    if isinstance(sharing, str) and sharing in NAMES:
        return sharing  # type: ignore[return-value]
    if not isinstance(sharing, tuple | list) or any(
        type(axis) is not int for axis in sharing
    ):
        hint = did_you_mean(sharing, NAMES)
        raise ValueError(
            "`sharing` must be 'layer', 'channel', 'neuron' or a tuple of axes along "
            f"which the function is shared, such as (1, 2).{hint} "
            f"Received: sharing={sharing!r}"
        )
    if 0 in sharing or len({*sharing}) < len(sharing):
        raise ValueError(
            "`sharing` must name each axis once, and not the batch axis, 0, along "
            f"which the function is always shared. Received: sharing={sharing!r}"
        )
    return tuple(sharing)


def validate_data_format(data_format: str | None) -> str:
    """Check `data_format` and return it, or Keras's default instead of `None`."""
    if data_format is None:
        return keras.config.image_data_format()
    return check_choice("data_format", data_format, ("channels_last", "channels_first"))


def unshared_axes(sharing: Sharing, rank: int, data_format: str) -> tuple[int, ...]:
    """Return the axes along which functions differ, in ascending order."""
    if sharing == "layer":
        return ()
    if sharing == "channel":
        return (1 if data_format == "channels_first" or rank == 2 else rank - 1,)
    if sharing == "neuron":
        return tuple(range(1, rank))
    resolved = [axis + rank if axis < 0 else axis for axis in sharing]
    unshared = tuple(axis for axis in range(1, rank) if axis not in resolved)
    if len(unshared) + len(resolved) != rank - 1:
        raise ValueError(
            f"For an input of rank {rank}, the axes of `sharing` must be different "
            f"ones of 1 to {rank - 1} or -{rank - 1} to -1. "
            f"Received: sharing={sharing!r}"
        )
    return unshared


def unshared_sizes(
    axes: Sequence[int], input_shape: Sequence[int | None], sharing: Sharing
) -> tuple[int, ...]:
    """Return the sizes of the axes that are not shared, which must be known."""
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
