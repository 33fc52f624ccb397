"""Many trainings of small networks, together where that is possible."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import keras

from keras_vaf.training.data import (
    check_compiled,
    check_positive,
    number_of_rows,
    to_arrays,
)
from keras_vaf.training.history import History, Rule
from keras_vaf.training.in_turn import train_in_turn
from keras_vaf.training.member import Member, check_rows
from keras_vaf.training.replicas import check_width

Progress = Callable[[int, int], None]


def train_many(
    members: Sequence[Member],
    x: Any,
    y: Any,
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    replicas: int | Literal["auto"] = "auto",
    on_progress: Progress | None = None,
) -> list[History]:
    """Train many models as `train` would, each on its own rows of the same data.

    On JAX, models whose training is the same program (equal architecture, loss and
    optimizer; other weights and learning rates) are trained together, in batches of
    equal width. On TensorFlow and PyTorch they are trained one after the other.

    Networks in one batch do not see each other: one that stops early, or whose loss is
    not finite, is frozen and the others go on. At equal width, a training repeats bit
    for bit, whatever its neighbours; other widths give results that differ by rounding.

    Args:
        members: The models and their rows.
        x: Inputs: an array, or a list or dictionary of arrays, of equal length.
        y: Targets, likewise.
        epochs: Number of epochs at most.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        replicas: Width of a batch. With 1, models are trained one after the other.
            `"auto"` is 16 on the CPU and 256 on accelerators, at most the number of
            models that fit together; less if the memory is too small, with a warning; 1
            for convolutions on the CPU, which batches make slower.
        on_progress: Called with the number of epochs done and of all, counted over all
            models.

    Returns:
        One history per member.

    Raises:
        ValueError: If an argument is out of its range, or a model is not compiled or
            cannot be trained in a batch.
    """
    check_positive("epochs", epochs)
    rule = Rule(monitor, mode, patience)
    if batch_size is not None:
        check_positive("batch_size", batch_size)
    if replicas != "auto":
        check_width(replicas)
    data = to_arrays("`(x, y)`", (x, y))
    for member in members:
        check_compiled(member.model)
        check_rows(member, number_of_rows(data))

    def progress(done: int) -> None:
        if on_progress is not None:
            on_progress(done, epochs * len(members))

    if keras.backend.backend() == "jax" and replicas != 1:
        from keras_vaf.training.jax_many import train_in_batches

        return train_in_batches(
            members, data, epochs, batch_size, rule, replicas, progress
        )
    return train_in_turn(members, data, epochs, batch_size, rule, progress)
