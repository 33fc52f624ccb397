"""`loss_of`, the loss of every network of a classification or a regression."""

import keras


def loss_of(classes: bool, reduction: str | None = "sum_over_batch_size") -> keras.Loss:
    """Return the loss of a task.

    Args:
        classes: Whether the task is a classification. The outputs of its network are
            logits, and the targets are class indices.
        reduction: As in `keras.losses.Loss`; `None` for one loss per row.

    Returns:
        The cross-entropy, or the mean squared error.
    """
    if classes:
        return keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction=reduction
        )
    return keras.losses.MeanSquaredError(reduction=reduction)
